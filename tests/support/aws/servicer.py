"""The resource provider's protocol, as the engine speaks it, for the stand-in.

Not `pulumi.provider.experimental.Provider`: of 3.272.0 it hides old inputs and proposed names, cannot answer with
unknown values, and shows every error with a traceback.
"""

import functools
import json
from collections.abc import Callable, Iterator
from concurrent import futures
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any, TypeVar, cast

import grpc
from botocore.exceptions import BotoCoreError, ClientError
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2_grpc
from pulumi.runtime.proto import provider_pb2 as proto
from typing_extensions import override

from tests.support.aws import invokes, kinds
from tests.support.aws.account import Account
from tests.support.aws.kind import Kind
from tests.support.aws.resources import Resources, changes, planned
from tests.support.aws.wire import Args, RefusedError, struct, unstruct

MEBIBYTE = 1 << 20
# What a program may say to the provider. Nothing of it reaches AWS but the region and the default tags: a profile and
# keys are never looked up.
SETTINGS = {
    "accessKey",
    "allowedAccountIds",
    "defaultTags",
    "profile",
    "region",
    "secretKey",
    "skipCredentialsValidation",
    "skipMetadataApiCheck",
    "skipRegionValidation",
    "skipRequestingAccountId",
    "version",
}
Method = TypeVar("Method", bound=Callable[..., Any])


def rpc(method: Method) -> Method:
    """AWS's errors and the stand-in's own become one line for the engine, without a traceback."""

    @functools.wraps(method)
    def call(servicer: "Servicer", request: Any, context: grpc.ServicerContext) -> Any:
        try:
            return method(servicer, request, context)
        except RefusedError as error:
            return context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        except (ClientError, BotoCoreError) as error:
            return context.abort(grpc.StatusCode.UNKNOWN, said(error))

    return cast(Method, call)


def said(error: Exception) -> str:
    """The error's text; moto's answer to a call that it does not know is a page that says nothing."""
    if isinstance(error, ClientError) and error.response["Error"]["Code"] == "404":
        return (
            f"{error.operation_name} is not known to the stand-in for AWS, or what it asks for is not there"
        )
    return str(error)


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """One provider, attached to by one engine after another."""

    def __init__(self, account: Account) -> None:
        self._resources = Resources(account)

    # --- the plugin ---

    @override
    @rpc
    def Handshake(
        self, request: proto.ProviderHandshakeRequest, context: Any
    ) -> proto.ProviderHandshakeResponse:
        return proto.ProviderHandshakeResponse(supports_autonaming_configuration=True)

    @override
    @rpc
    def Attach(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    @override
    @rpc
    def Cancel(self, request: Any, context: Any) -> Any:
        return empty_pb2.Empty()

    @override
    @rpc
    def GetPluginInfo(self, request: Any, context: Any) -> plugin_pb2.PluginInfo:
        return plugin_pb2.PluginInfo(version=version("pulumi-aws"))

    @override
    @rpc
    def GetSchema(self, request: Any, context: Any) -> proto.GetSchemaResponse:
        return proto.GetSchemaResponse(schema='{"name": "aws"}')

    @override
    @rpc
    def CheckConfig(self, request: proto.CheckRequest, context: Any) -> proto.CheckResponse:
        unknown = set(unstruct(request.news)) - SETTINGS
        if unknown:
            names = ", ".join(sorted(unknown))
            raise RefusedError(f"provider arguments not known to the stand-in for AWS: {names}")
        return proto.CheckResponse(inputs=request.news)

    @override
    @rpc
    def DiffConfig(self, request: proto.DiffRequest, context: Any) -> proto.DiffResponse:
        old, new = unstruct(request.old_inputs), unstruct(request.news)
        if old == new:
            return proto.DiffResponse(changes=proto.DiffResponse.DIFF_NONE)
        replaces = ["region"] if old.get("region") != new.get("region") else []
        return proto.DiffResponse(changes=proto.DiffResponse.DIFF_SOME, replaces=replaces)

    @override
    @rpc
    def Configure(self, request: proto.ConfigureRequest, context: Any) -> proto.ConfigureResponse:
        given = unstruct(request.args)
        if not given.get("region"):
            raise RefusedError("no region: give the provider one")
        self._resources.region = given["region"]
        self._resources.default_tags = json.loads(given.get("defaultTags", "{}")).get("tags", {})
        self._check_account(given)
        return proto.ConfigureResponse(supportsPreview=True, supports_autonaming_configuration=True)

    def _check_account(self, given: Args) -> None:
        """As the real provider does unless it is told not to, whose text is another one."""
        if given.get("skipCredentialsValidation") == "true":
            return
        if not self._resources.account.credentials_work:
            raise RefusedError(
                "retrieving caller identity from STS: the security token included in the request is invalid"
            )
        allowed = json.loads(given.get("allowedAccountIds", "[]"))
        account = self._resources.client("sts").get_caller_identity()["Account"]
        if allowed and account not in allowed:
            raise RefusedError(f"AWS account ID not allowed: {account}")

    # --- resources ---

    @override
    @rpc
    def Check(self, request: proto.CheckRequest, context: Any) -> proto.CheckResponse:
        kind, news, olds = kinds.find(request.type), unstruct(request.news), unstruct(request.olds)
        if kind.names and kind.names not in news:
            proposed = request.autonaming.proposed_name or f"{request.name}-{request.randomSeed.hex()[:7]}"
            news[kind.names] = olds.get(kind.names) or proposed
        refusal = self._resources.refusal(kind, news)
        where, _, reason = str(refusal or "").partition(": ")
        failures = [proto.CheckFailure(property=where, reason=reason)] if refusal else []
        return proto.CheckResponse(inputs=struct(news), failures=failures)

    @override
    @rpc
    def Diff(self, request: proto.DiffRequest, context: Any) -> proto.DiffResponse:
        kind, old, new = kinds.find(request.type), unstruct(request.old_inputs), unstruct(request.news)
        found = changes(kind, old, new, tuple(request.ignoreChanges))
        replaces = [key for key, change in found.items() if change.replaces]
        same_name = not kind.names or old.get(kind.names) == new.get(kind.names)
        return proto.DiffResponse(
            changes=proto.DiffResponse.DIFF_SOME if found else proto.DiffResponse.DIFF_NONE,
            replaces=replaces,
            deleteBeforeReplace=bool(replaces) and same_name and kind.fixed_name,
            diffs=list(found),
            detailedDiff={key: _detail(change.how, replace=change.replaces) for key, change in found.items()},
            hasDetailedDiff=True,
        )

    @override
    @rpc
    def Create(self, request: proto.CreateRequest, context: Any) -> proto.CreateResponse:
        kind, inputs = kinds.find(request.type), unstruct(request.properties)
        if request.preview:
            return proto.CreateResponse(properties=struct(planned(request.type, inputs)))
        identifier, state = self._resources.create(request.type, kind, inputs)
        return proto.CreateResponse(id=identifier, properties=struct(state))

    @override
    @rpc
    def Read(self, request: proto.ReadRequest, context: Any) -> proto.ReadResponse:
        kind, inputs = self._known(request.type, request.inputs)
        found = self._resources.read(request.type, kind, inputs, request.id)
        if found is None:
            return proto.ReadResponse()
        seen, state = found
        return proto.ReadResponse(id=request.id, inputs=struct(seen), properties=struct(state))

    @override
    @rpc
    def Update(self, request: proto.UpdateRequest, context: Any) -> proto.UpdateResponse:
        kind, old, new = kinds.find(request.type), unstruct(request.old_inputs), unstruct(request.news)
        state = unstruct(request.olds)
        if request.preview:
            return proto.UpdateResponse(properties=struct({**state, **new}))
        changed = self._resources.update(request.type, kind, old, new, state, request.id)
        return proto.UpdateResponse(properties=struct(changed))

    @override
    @rpc
    def Delete(self, request: proto.DeleteRequest, context: Any) -> Any:
        kind, inputs = self._known(request.type, request.old_inputs)
        self._resources.delete(kind, inputs, request.id)
        return empty_pb2.Empty()

    @override
    @rpc
    def Invoke(self, request: proto.InvokeRequest, context: Any) -> proto.InvokeResponse:
        resources = self._resources
        answer = invokes.call(resources.client, request.tok, unstruct(request.args), resources.region)
        return proto.InvokeResponse(**{"return": struct(answer)})

    def _known(self, token: str, inputs: Any) -> tuple[Kind, Args]:
        """A type with its inputs, without which nothing of it can be found: `pulumi import` gives none."""
        given = unstruct(inputs)
        if not given:
            raise RefusedError(f"{token}: the stand-in for AWS reads only what the stack has made")
        return kinds.find(token), given


def _detail(how: str, *, replace: bool) -> proto.PropertyDiff:
    kind = proto.PropertyDiff.Kind.Value(f"{how}_REPLACE" if replace else how)
    return proto.PropertyDiff(kind=kind, inputDiff=True)


@contextmanager
def attached(account: Account) -> Iterator[dict[str, str]]:
    """A provider for one account; gives the variables that make an engine attach to it instead of the real one."""
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=16),
        options=[("grpc.max_receive_message_length", 400 * MEBIBYTE)],
    )
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(account), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield {"PULUMI_DEBUG_PROVIDERS": f"aws:{port}"}
    finally:
        server.stop(0)
