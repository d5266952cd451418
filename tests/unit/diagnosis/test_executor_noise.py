"""Which lines of the engine's output are left out: the executor's death alone, in the shapes in which it was seen."""

from commands.executor_noise import LEFT_OUT, ExecutorNoise

TRACEBACK = """\
Traceback (most recent call last):
  File ".venv/lib/python3.11/site-packages/pulumi/runtime/resource.py", line 1340, in do_rpc_call
    return monitor.RegisterResource(req)
pulumi.errors.RunError: Resource monitor has terminated, shutting down
During handling of the above exception, another exception occurred:
Traceback (most recent call last):
  File ".toolchain/bin/pulumi-language-python-exec", line 232, in <module>
    loop.run_until_complete(coro)
KeyboardInterrupt
"""
STACK = "  pulumi:pulumi:Stack (shared-observability-sim):\n"
FAILED = "  kubernetes:apps/v1:DaemonSet (alloy):\n    error: timed out waiting for the condition\n"


def indented(text: str, by: str = "    ") -> str:
    return "".join(f"{by}{line}\n" for line in text.splitlines())


def filtered(text: str) -> str:
    noise = ExecutorNoise()
    shown = [line for given in text.splitlines(keepends=True) for line in noise.filtered(given)]
    return "".join([*shown, *noise.rest()])


def test_the_executors_traceback_is_left_out_of_the_diagnostics_and_all_else_is_shown() -> None:
    before, after = f"{STACK}    error: update failed\n\n", f"\n{FAILED}\nResources:\n    2 errored\n"
    assert filtered(before + indented(TRACEBACK) + after) == before + LEFT_OUT + after


def test_it_is_left_out_of_the_rows_too_while_their_seconds_count_on() -> None:
    rows = indented(TRACEBACK, " +  pulumi:pulumi:Stack shared-observability-sim creating (13s) ")
    *first, last = rows.splitlines(keepends=True)
    counted = "".join([*first, last.replace("(13s)", "(14s)")])
    after = " +  kubernetes:apps/v1:DaemonSet alloy **creating failed** error: timed out\n"
    assert filtered(counted + after) == after


def test_it_is_left_out_at_the_very_end_and_with_colours() -> None:
    coloured = f"\n\x1b[0m{indented(TRACEBACK)}\x1b[0m"
    assert filtered(coloured).startswith(f"\n{LEFT_OUT}")


def test_an_error_of_the_program_is_shown_whole() -> None:
    error = "    error: Program failed with an unhandled exception:\n" + indented(TRACEBACK)
    assert filtered(STACK + error) == STACK + error


def test_a_traceback_that_is_not_the_executors_end_is_shown_whole() -> None:
    for word in ("KeyboardInterrupt", "pulumi-language-python-exec"):
        text = TRACEBACK.replace("Resource monitor has terminated, shutting down", "x").replace(word, "x")
        assert filtered("\n" + indented(text)) == "\n" + indented(text)


def test_output_without_a_traceback_passes_unchanged() -> None:
    text = f"Updating (sim):\n{STACK}    Pod budget of cluster sim\n    \n    group   type\n{FAILED}"
    assert filtered(text) == text
