"""Cairn's command line in this process and in others, for the tests."""

import contextlib
import io
import subprocess
import sys


def run(*arguments):
    """Exit code, stdout, and Cairn's lines on stderr, of a command in this process."""
    from cairn.addon import cli

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main([str(argument) for argument in arguments])
    return code, out.getvalue(), [line for line in err.getvalue().splitlines() if line.startswith("cairn: ")]


def start(*arguments):
    """A command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "cairn", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
