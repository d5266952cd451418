"""The gateway before real servers: nginx, prom-label-proxy, Prometheus, and the Loki sidecar before a recorder."""
