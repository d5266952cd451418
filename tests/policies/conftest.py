"""Fast tests by default; `tests/policies/engine` and `tests/policies/cluster` run when they are named."""

collect_ignore = ["engine", "cluster"]
