"""Stack files of tests: the settings of an environment that is shipped, changed, with its own salt and encrypted key.

The passphrases of `dev` and `sim` are public, so the engine decrypts the key as it does for everybody.
"""

from typing import Any

import yaml

from commands.environments import ROOT
from tests.support.environments import PROJECT

KEY = "gatewayKey"
# Another one than sim's, encrypted as that is: the program takes none of the shipped keys to a real cluster.
OWN_KEY_OF_SIM = {
    "secure": "v1:fOp5J8PEj5BxJJre:bYs5bu1fn+76OTvC4uqzp/qqD5FYh5A+AtMi0nlGBDH8dMWxLbbvWu2Xh8o6rpWmXrGd/6NLwdv+Lpvqhg=="
}


def shipped(stack: str) -> dict[str, Any]:
    """The settings of an environment as plain data, without the secret."""
    names = {key.partition(":")[2]: value for key, value in _read(stack)["config"].items()}
    return {name: value for name, value in names.items() if name != KEY}


def stack_file_text(stack: str, settings: dict[str, Any], *, key: Any = None) -> str:
    """A stack file with these settings, and with what stands for the key in the shipped one, or with `key`."""
    file, name = _read(stack), f"{PROJECT}:{KEY}"
    config = {f"{PROJECT}:{setting}": value for setting, value in settings.items()}
    return yaml.safe_dump({**file, "config": {**config, name: key or file["config"][name]}}, sort_keys=False)


def _read(stack: str) -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text()))
