"""Set-up on a checkout where everything is in place."""

import os
import subprocess
import time

from toolchain.project import BIN, ROOT
from toolchain.provider import NAME


def test_a_second_set_up_says_nothing_and_takes_no_time() -> None:
    started = time.monotonic()
    done = subprocess.run(
        [ROOT / "toolchain" / "setup", "python", "engine"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert time.monotonic() - started < 2


def test_the_provider_is_on_nobodys_path() -> None:
    assert not (BIN / NAME).exists()
    assert os.access(BIN / "pulumi", os.X_OK)
