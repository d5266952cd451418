"""The guards on a real API server: asked by kubectl and by dry runs, without Pulumi."""
