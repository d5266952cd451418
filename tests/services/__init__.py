"""The real servers and tools that read the rendered configurations, on loopback."""
