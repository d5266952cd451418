"""The policy pack: `pulumi preview --policy-pack policies`. Constructing `PolicyPack` serves and never returns."""

import os

from pulumi_policy import PolicyPack

from policies.operation import Operation, listen, unbuffer_stdout
from policies.pack import NAME, policies
from policies.targets import of_this_operation

unbuffer_stdout()
operation = Operation(targets=of_this_operation(os.getpid()))
listen(operation)
PolicyPack(NAME, policies(operation))
