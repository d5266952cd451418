"""A pytest plugin: a run in which no test passed, or one was skipped, is not green."""

import pytest


class Counts:
    """Counts outcomes, and turns a session's success into a failure where it tested too little."""

    def __init__(self) -> None:
        self.passed = 0
        self.skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Counts one phase of one test."""
        if report.passed and report.when == "call":
            self.passed += 1
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Counts a module that skipped itself."""
        if report.skipped:
            self.skipped.append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Sets the exit status."""
        if session.exitstatus == pytest.ExitCode.OK and (self.skipped or not self.passed):
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says why."""
        if self.skipped:
            terminalreporter.write_line(f"skipped, so not green: {', '.join(self.skipped)}", red=True)
        elif not self.passed:
            terminalreporter.write_line("no test passed, so not green", red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the counts with this run."""
    config.pluginmanager.register(Counts(), "nothing-skipped-counts")
