"""The engine's own command line, as `make pulumi` runs it."""

import io
import subprocess
import sys
from contextlib import nullcontext

import pytest
from typing_extensions import override

from commands import cli


class Input(io.StringIO):
    """A terminal, or a pipe."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__("secret")
        self.terminal = terminal

    @override
    def isatty(self) -> bool:
        return self.terminal


@pytest.mark.parametrize("terminal", [True, False])
def test_it_reads_from_a_pipe_and_never_from_a_terminal_which_would_stop_it(
    terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def run(words: list[str], _: object, *, ask: bool) -> "subprocess.CompletedProcess[str]":
        assert words[-2:] == ["--stack", "dev"]
        asked.append(ask)
        return subprocess.CompletedProcess([], 0)

    monkeypatch.setattr(sys, "stdin", Input(terminal=terminal))
    monkeypatch.setattr(cli, "engine_environment", lambda _: nullcontext({}))
    monkeypatch.setattr(cli, "run_pulumi", run)
    assert cli.main(["--env", "dev", "--", "config", "get", "gatewayKey"]) == 0
    assert asked == [not terminal]
