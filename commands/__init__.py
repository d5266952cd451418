"""What `make` calls: the engine on an environment, a render of it, and the tests in tiers."""
