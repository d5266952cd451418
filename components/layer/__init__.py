"""What runs once per cluster: node agents, stores, and the texts that configure them."""
