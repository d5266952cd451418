"""One app team's slice of the cluster: its namespaces, its quota and what its accounts may do."""
