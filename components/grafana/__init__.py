"""A Grafana as this project runs it: a tenant's own, and the platform's."""
