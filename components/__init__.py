"""The Pulumi components, in the order in which data flows: settings, cluster, layer, tenant."""
