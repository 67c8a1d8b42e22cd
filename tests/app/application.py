"""Run the real application as a user runs it. What must happen inside is a script in ``scripts``.

A script prints one line of JSON after a mark; nothing here imports bpy.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = Path(__file__).resolve().parent / "scripts"
MARK = "cairn-test:"
# Blender's own log, which says such things as that it found no list of drives
LOG_LINE = re.compile(r"^\d\d:\d\d\.\d+ ")
# Compiling the core takes most of it. A hang must not eat the time of a whole run.
TIMEOUT = 900


# Whose kernels are in the zip that is tested: those of the solver and the law of friction that new scenes have.
READY_MADE = ("--methods", "auto", "--frictions", "cone")


class Blender:
    """One Blender with a folder of its own for settings and extensions."""

    def __init__(self, executable: str, resources: Path):
        self.executable = executable
        self.resources = resources
        self.environment: dict[str, str] = {}

    @property
    def extension(self) -> Path:
        """Where the zip is unpacked."""
        return self.resources / "extensions" / "user_default" / "cairn"

    @property
    def kernel_files(self) -> dict[str, int]:
        """Files of what was compiled here, and when each was written."""
        folder = self.resources / "extensions" / ".user" / "user_default" / "cairn" / "numba_cache"
        return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}

    def run(self, *words, check: bool = True) -> subprocess.CompletedProcess:
        """Run Blender with ``words``; ``check`` demands exit code 0 and no traceback."""
        return self.ended(self.start(*words), check=check)

    def start(self, *words) -> subprocess.Popen:
        """Start Blender with ``words``, beside others."""
        return subprocess.Popen(
            [self.executable, *map(str, words)],
            cwd=ROOT,
            env={**os.environ, "BLENDER_USER_RESOURCES": str(self.resources), **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @staticmethod
    def ended(process: subprocess.Popen, check: bool = True) -> subprocess.CompletedProcess:
        """Wait until it ends, for so long at most; ``check`` as of ``run``."""
        try:
            output, errors = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        done = subprocess.CompletedProcess(process.args, process.returncode, output, errors)
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
            assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
        return done

    def script(self, name: str, *words, blend: Path | None = None, window: bool = False, window_words=()):
        """Run a script of ``scripts`` and return what it printed after the mark."""
        before = ["--window-geometry", 0, 0, 1600, 1000, *window_words] if window else ["-b"]
        blends = [blend] if blend else []
        done = self.run(*before, *blends, "--python-exit-code", 1, "--python", SCRIPTS / name, "--", *words)
        marked = [line for line in done.stdout.splitlines() if line.startswith(MARK)]
        assert marked, done.stdout + done.stderr
        return json.loads(marked[-1].removeprefix(MARK))


def installed(plain: Blender, archive: Path, resources: Path) -> Blender:
    """A Blender with the zip installed and enabled, and with nothing else in its profile."""
    blender = Blender(plain.executable, resources)
    blender.run("-b", "--command", "extension", "install-file", "--repo", "user_default", "--enable", archive)
    return blender


def own_lines(text: str) -> list[str]:
    """Leave out the lines of Blender's own log, and empty ones."""
    return [line for line in text.splitlines() if line.strip() and not LOG_LINE.match(line)]


def build_zip(output: Path, *words: str) -> Path:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "package.py", "--platform", this_platform(), "--output", output, *words],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (archive,) = output.glob("*.zip")
    return archive


def this_platform() -> str:
    return {"linux": "linux-x64", "win32": "windows-x64", "darwin": "macos-arm64"}[sys.platform]
