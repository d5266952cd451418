"""A real Kubernetes control plane on loopback whose nodes are simulated: for tests and for `make simulator`.

etcd, API server, controllers and scheduler are the real ones; kwok plays the kubelets, so nothing runs in
containers, a deleted pod is gone at once, and neither NetworkPolicy nor the network of pods exists.
"""
