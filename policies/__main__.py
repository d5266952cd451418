"""The policy pack: `pulumi preview --policy-pack policies`. Constructing `PolicyPack` serves and never returns."""

from pulumi_policy import PolicyPack

from policies.operation import Operation, listen, unbuffer_stdout
from policies.pack import NAME, policies

unbuffer_stdout()
operation = Operation()
listen(operation)
PolicyPack(NAME, policies(operation))
