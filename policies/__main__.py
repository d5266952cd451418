"""The policy pack: `pulumi preview --policy-pack policies`. Constructing `PolicyPack` serves and never returns."""

import gc
import os

# A preview waits for the imports. Nothing that they make is garbage, and no package here extends pydantic, which
# would look for extensions in all of them: 50 of 170 ms CPU (measured).
gc.disable()
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

from pulumi_policy import PolicyPack  # noqa: E402

from policies.calls import listen  # noqa: E402
from policies.operation import Operation, unbuffer_stdout  # noqa: E402
from policies.pack import NAME, policies  # noqa: E402
from policies.targets import of_this_operation  # noqa: E402

unbuffer_stdout()
operation = Operation(targets=of_this_operation(os.getpid()))
listen(operation)
pack = policies(operation)
gc.freeze()
gc.enable()
PolicyPack(NAME, pack)
