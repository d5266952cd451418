"""What would make pods fit that do not: one file for each kind of change (`pod_remedies` puts them in order)."""
