"""The cluster: where objects go, which nodes there are, what fits on them and where pods are placed."""
