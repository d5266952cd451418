"""Configuration texts from pure functions: Alloy, Prometheus, Loki, nginx. Nothing here imports pulumi."""
