"""The passphrase of an environment, and the public one, with which nothing real may be deployed.

`dev`, `sim` and the example `eks` are shipped with their salt and an encrypted key, and everybody knows the passphrase
that opens them. What they encrypt is no secret, so a copy of such a file is as public as the file itself: not its name
tells, but its salt.
"""

from collections.abc import Mapping
from pathlib import Path

from commands.environments import CommandError

PUBLIC_PASSPHRASE = "public-dev-passphrase"  # noqa: S105
PUBLIC = {"PULUMI_CONFIG_PASSPHRASE": PUBLIC_PASSPHRASE}
PUBLIC_SALTS = frozenset(
    {
        "v1:klG3hQ2zI4g=:v1:5App3ebjDF97MLh9:b2lp5902JfEToyyhnJICM8zQ1kGjZg==",
        "v1:bfY2s1OvnXc=:v1:B2hqeXVMOfKt1H3e:bZvskFwwiHftPNR7hIkcQaKG1KoflA==",
        "v1:4sUTXfo3OlQ=:v1:ODzh63enz3XLLe2z:Bj14HeCkIX/nss606TFTNfpQ9SzQGw==",
    }
)
"""`encryptionsalt` of the stack files in this repository; each holds a text that only this passphrase decrypts."""

VARIABLE, FILE_VARIABLE = "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"
VARIABLES = (VARIABLE, FILE_VARIABLE)


def is_public(settings: Mapping[str, object]) -> bool:
    """Whether a stack file is encrypted by the public passphrase, because it is one of the shipped ones or a copy.

    Args:
        settings: content of the file.
    """
    return settings.get("encryptionsalt") in PUBLIC_SALTS


def passphrase(
    environment: str, settings: Mapping[str, object], backend: str, given: Mapping[str, str]
) -> dict[str, str]:
    """Returns the variables with the passphrase: those that are given, or the public one where nothing else opens it.

    Args:
        environment: name for the message.
        settings: content of its file.
        backend: address of the backend.
        given: variables of the shell. A passphrase of another project in them does not open a public file, so it is
            not looked at for one.

    Raises:
        CommandError: if one is needed, and none is given.
    """
    if is_public(settings):
        return PUBLIC
    if found := {name: given[name] for name in VARIABLES if name in given}:
        return found
    provider = str(settings.get("secretsprovider") or "passphrase")
    on_pulumi_cloud = backend.startswith(("https://", "http://"))
    if "encryptionsalt" in settings or (provider == "passphrase" and not on_pulumi_cloud):
        raise CommandError(
            f"the secrets of {environment!r} are encrypted with a passphrase, and none is given: set "
            "PULUMI_CONFIG_PASSPHRASE_FILE to a file that holds it, or PULUMI_CONFIG_PASSPHRASE"
        )
    return {}


def uses_public(settings: Mapping[str, object], variables: Mapping[str, str]) -> bool:
    """Whether what this environment encrypts can be read by everybody, by its file or by the passphrase given for it.

    Args:
        settings: content of its file; with a secrets provider of its own no passphrase is used.
        variables: that the engine runs with.
    """
    if settings.get("secretsprovider") not in (None, "passphrase"):
        return False
    return is_public(settings) or _stated(variables) == PUBLIC_PASSPHRASE


def _stated(variables: Mapping[str, str]) -> str:
    if VARIABLE in variables:
        return variables[VARIABLE]
    file = Path(variables.get(FILE_VARIABLE, ""))
    try:
        return file.read_text(encoding="utf-8").strip() if FILE_VARIABLE in variables else ""
    except (OSError, UnicodeDecodeError):
        return ""  # the engine says what is wrong with it


def refusal(environment: str, where: str) -> CommandError:
    """Why a real cluster gets nothing from an environment whose secrets are public, and what to do about it."""
    pulumi = f"make pulumi ENV={environment} ARGS="
    return CommandError(
        f"Pulumi.{environment}.yaml is encrypted with the public passphrase of this repository's examples, and its "
        f"target is {where}: everybody who reads the repository has the key of all tokens. Nothing was done. Make an "
        "environment of its own (docs/operations.md, Production), or give this one a passphrase and a key of its own:\n"
        "  (umask 077; openssl rand -hex 32 > ~/passphrase)      # keep it, and not in the repository\n"
        f"  {pulumi}'stack select --create'\n"
        f"  {pulumi}'stack change-secrets-provider passphrase' < ~/passphrase\n"
        "  export PULUMI_CONFIG_PASSPHRASE_FILE=~/passphrase\n"
        f"  openssl rand -hex 32 | {pulumi}'config set --secret gatewayKey'"
    )
