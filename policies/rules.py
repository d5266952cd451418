"""All rules, in the order in which they are documented."""

from policies import placement
from policies.rule import Rule

RULES: tuple[Rule, ...] = (placement.RULE,)
BY_NAME = {rule.name: rule for rule in RULES}
