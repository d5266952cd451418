"""Records what a program registers, without an engine: each object with its inputs, options and secrets, drained.

The runtime's own mocks accept an unknown call and a second registration under one URN; here both fail the test.
"""

import asyncio
import contextvars
import logging
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
import pulumi
from pulumi.runtime import mocks, rpc, settings
from pulumi.runtime.stack import run_in_stack
from typing_extensions import override

SECRET = "[secret]"
KUBERNETES = "kubernetes:"
Inputs = dict[str, Any]
Answer = Callable[[Inputs], Inputs]


class RefusedCall(grpc.RpcError):  # type: ignore[misc]  # grpc has no types
    """What an answer raises where the provider would refuse: the program gets it as it would from the engine."""

    def code(self) -> grpc.StatusCode:
        """As the engine passes a provider's error on."""
        return grpc.StatusCode.UNKNOWN

    def details(self) -> str:
        """The provider's own words."""
        return str(self)


@dataclass(frozen=True)
class Registered:
    """One registration.

    Attributes:
        type: its token, `kubernetes:apps/v1:DaemonSet`.
        name: its logical name.
        urn: by which the engine knows it.
        parent: URN of its parent.
        inputs: as the provider would get them, secrets in plain text.
        public: the same with `[secret]` for what is secret; what a state file shows to everybody who reads it.
        provider: reference of the provider that it names; empty if it would be the default one.
        dependencies: URNs of what has to exist before.
        protect: whether the engine refuses to delete it.
        retain_on_delete: whether the engine forgets it instead of deleting it.
    """

    type: str
    name: str
    urn: str
    parent: str
    inputs: Inputs
    public: Inputs
    provider: str
    dependencies: frozenset[str]
    protect: bool
    retain_on_delete: bool


@dataclass
class Recorder(mocks.Mocks):
    """Answers the calls it knows, and keeps everything that is registered.

    Attributes:
        answers: by token of the call.
        computed: by type, what the provider adds to the inputs.
        registered: by URN, in the order of registration.
        outputs: what the program exported, secrets in plain text.
        public_outputs: the same with `[secret]` for what is secret.
        warnings: what it logged as warnings.
    """

    answers: Mapping[str, Answer] = field(default_factory=dict)
    computed: Mapping[str, Answer] = field(default_factory=dict)
    registered: dict[str, Registered] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    public_outputs: dict[str, Any] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    @override
    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, Inputs]:
        inputs = dict(args.inputs)
        added = self.computed[args.typ](inputs) if args.typ in self.computed else {}
        return f"{args.name}-id", {**inputs, **added}

    @override
    def call(self, args: mocks.MockCallArgs) -> Inputs:  # type: ignore[override]  # the runtime takes it without failures
        if args.token not in self.answers:
            raise AssertionError(f"unknown call {args.token} with {args.args}")
        return self.answers[args.token](dict(args.args))


class _Monitor(mocks.MockMonitor):
    """The runtime's mock of the engine, which keeps the request too: options never reach `new_resource`."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self._recorder = recorder

    @override
    def RegisterResource(self, request: Any) -> Any:
        if request.type != "pulumi:pulumi:Stack":
            self._record(request)
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]

    def _record(self, request: Any) -> None:
        urn = self.make_urn(request.parent, request.type, request.name)
        if urn in self._recorder.registered:
            raise AssertionError(f"registered twice: {urn}")
        inputs = rpc.deserialize_properties(request.object)
        self._recorder.registered[urn] = Registered(
            type=request.type,
            name=request.name,
            urn=urn,
            parent=request.parent,
            inputs=_revealed(inputs),
            public=_hidden(inputs),
            provider=request.provider,
            dependencies=frozenset(request.dependencies),
            protect=bool(request.protect),
            retain_on_delete=bool(request.retainOnDelete),
        )

    @override
    def RegisterResourceOutputs(self, request: Any) -> Any:
        if "pulumi:pulumi:Stack" in request.urn:
            outputs = rpc.deserialize_properties(request.outputs)
            self._recorder.outputs.update(_revealed(outputs))
            self._recorder.public_outputs.update(_hidden(outputs))
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]


def _revealed(value: Any) -> Any:
    if rpc.is_rpc_secret(value):
        return _revealed(rpc.unwrap_rpc_secret(value))
    return _each(_revealed, value)


def _hidden(value: Any) -> Any:
    return SECRET if rpc.is_rpc_secret(value) else _each(_hidden, value)


def _each(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, dict):
        return {key: change(item) for key, item in value.items()}
    return [change(item) for item in value] if isinstance(value, list) else value


class _Warnings(logging.Handler):
    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._found = found

    @override
    def emit(self, record: logging.LogRecord) -> None:
        self._found.append(record.getMessage())


def record(
    program: Callable[[], None],
    *,
    project: str,
    stack: str,
    config: Mapping[str, str] | None = None,
    secret_keys: tuple[str, ...] = (),
    answers: Mapping[str, Answer] | None = None,
    computed: Mapping[str, Answer] | None = None,
    preview: bool = False,
) -> Recorder:
    """Runs a program until nothing is left to do, and gives what it registered; what the program raises is raised here.

    Args:
        program: what `__main__.py` would do.
        project: name of the project.
        stack: name of the stack.
        config: the stack's configuration, keys with their namespace.
        secret_keys: those that the engine would have decrypted.
        answers: to calls, by token; any other call fails the test.
        computed: by type of resource, what the provider adds to the inputs.
        preview: whether the program runs for a preview.
    """
    recorder = Recorder(answers or {}, computed or {})

    def run() -> None:
        pulumi.runtime.set_all_config(dict(config or {}), list(secret_keys))
        settings.SETTINGS.outputs.clear()  # a program that failed leaves outputs behind that nobody waits for
        with _event_loop() as loop:
            mocks.set_mocks(
                recorder,
                project,
                stack,
                preview=preview,
                logger=_logger(recorder.warnings),
                monitor=_Monitor(recorder),
                organization="organization",
            )
            # It has made a stack that is finished already; the program gets one whose exports count.
            settings.set_root_resource(None)  # type: ignore[arg-type]
            loop.run_until_complete(run_in_stack(program))

    # The runtime keeps its settings in context variables: in a context of its own no program sees another's.
    contextvars.copy_context().run(run)
    return recorder


@contextmanager
def _event_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """A loop with one worker thread, where the runtime's mocks want a loop too: registrations come in one order."""
    loops = [asyncio.new_event_loop()]

    def start_worker() -> None:
        loops.append(asyncio.new_event_loop())
        asyncio.set_event_loop(loops[-1])

    loops[0].set_default_executor(ThreadPoolExecutor(max_workers=1, initializer=start_worker))
    asyncio.set_event_loop(loops[0])
    # What a program raises is raised by `record`; the futures that wait for it would each print it once more.
    loops[0].set_exception_handler(lambda *_: None)
    try:
        yield loops[0]
    finally:
        loops[0].run_until_complete(loops[0].shutdown_default_executor())
        asyncio.set_event_loop(None)
        for loop in loops:
            loop.close()


def _logger(warnings: list[str]) -> logging.Logger:
    logger = logging.Logger("program")
    logger.addHandler(_Warnings(warnings))
    return logger
