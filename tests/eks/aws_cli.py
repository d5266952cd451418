"""A stand-in for the AWS CLI: an executable `aws` that knows the two calls which a target on EKS makes of it."""

import json
from dataclasses import dataclass
from pathlib import Path

ACCOUNT = "123456789012"  # moto's
CALLER = f"arn:aws:sts::{ACCOUNT}:assumed-role/deployer/tests"
DEPLOYER = f"arn:aws:iam::{ACCOUNT}:role/deployer"
NO_CREDENTIALS = 'Unable to locate credentials. You can configure credentials by running "aws login".'
SCRIPT = """\
#!/bin/sh
echo "$*" >> '{log}'
case " $* " in
*" sts get-caller-identity "*) echo '{caller}' ;;
*" eks get-token --cluster-name "*) echo '{token}' ;;
*) echo "the stand-in for the AWS CLI does not know: $*" >&2; exit 64 ;;
esac
"""
REFUSING = """\
#!/bin/sh
echo >&2; echo '{why}' >&2; exit 253
"""


@dataclass(frozen=True)
class AwsCli:
    """One folder for PATH, with the executable in it."""

    folder: Path

    @property
    def _log(self) -> Path:
        return self.folder / "calls"

    def answers(self, token: str) -> None:
        """It gives this token for every cluster, as the role `deployer` of moto's account."""
        credential = {
            "kind": "ExecCredential",
            "apiVersion": "client.authentication.k8s.io/v1beta1",
            "spec": {},
            "status": {"token": token},
        }
        identity = {"UserId": "AROA:tests", "Account": ACCOUNT, "Arn": CALLER}
        self._write(SCRIPT.format(log=self._log, caller=json.dumps(identity), token=json.dumps(credential)))

    def refuses(self, why: str = NO_CREDENTIALS) -> None:
        """It answers nothing, with this reason."""
        self._write(REFUSING.format(why=why))

    def calls(self) -> list[str]:
        """What it was asked so far."""
        return self._log.read_text().splitlines() if self._log.exists() else []

    def _write(self, script: str) -> None:
        self.folder.mkdir(exist_ok=True)
        file = self.folder / "aws"
        file.write_text(script)
        file.chmod(0o700)  # the token is in it
