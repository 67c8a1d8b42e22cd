"""Bad .blend files of many kinds, made from a good one, and a process that tries them on the command line."""

import bz2
import gzip
import json
import lzma
import os
import struct
import subprocess
import sys
import threading
import zlib
from pathlib import Path

# A file that is read takes some hundredths of a second; loading Blender's module comes before the first [s].
_PATIENCE = 120.0

_SERVER = """
import contextlib, io, json, os, sys
reply = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
import bpy
from cairn.addon import cli
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(json.loads(line))
    print(json.dumps([code, err.getvalue()]), file=reply, flush=True)
"""


class Commands:
    """A process that runs commands of Cairn one after the other; one that a file has ended is followed by another."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._process = None

    def run(self, *arguments) -> tuple[int, list[str]]:
        """Exit code and Cairn's lines on stderr; the code is negative where a signal has ended the process."""
        log = self._folder / "stderr.txt"
        if self._process is None or self._process.poll() is not None:
            self.close()
            with log.open("w") as stderr:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
                )
        begin = log.stat().st_size  # before the command is sent: it may have crashed, and said so, a moment later
        self._process.stdin.write(json.dumps([str(argument) for argument in arguments]).encode() + b"\n")
        self._process.stdin.flush()
        watch = threading.Timer(_PATIENCE, self._process.kill)
        watch.start()
        answer = self._process.stdout.readline()
        watch.cancel()
        if answer:
            code, said = json.loads(answer)
        else:
            code = self._process.wait()
            said = log.read_bytes()[begin:].decode(errors="replace")
        return code, [line for line in said.splitlines() if line.startswith("cairn: ")]

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None


def blocks(content: bytes) -> list[tuple[int, int, bytes]]:
    """Start, end and code of each block of an uncompressed file, in either of its two layouts."""
    wide = content[7:9].isdigit()
    at, head = (int(content[7:9]), 32) if wide else (12, 24)
    found = []
    while at + head <= len(content):
        length = struct.unpack_from("<q" if wide else "<i", content, at + (16 if wide else 4))[0]
        found.append((at, at + head + length, content[at : at + 4]))
        at += head + length
    return found


def version_digits(content: bytes) -> tuple[int, int]:
    """Where the version of Blender stands in an uncompressed file, and how many digits it has."""
    return (13, 4) if content[7:9].isdigit() else (9, 3)


def never_good(plain: bytes, packed: bytes) -> dict[str, bytes]:
    """Files that are no scene, whatever one reads them with, by what is wrong."""
    end = blocks(plain)[-2][0]  # of what comes before the description of all the rest
    bad = {f"cut off at {part} of 40": plain[: end * part // 40] for part in range(40)}
    bad |= {f"compressed, cut off at {part} of 20": packed[: len(packed) * part // 20] for part in range(20)}
    bad |= {f"cut off after {count} bytes": plain[:count] for count in (1, 6, 7, 8, 11, 12, 13, 16, 17, 18, 40, 60)}
    bad |= {f"header without byte {at}": plain[:at] + plain[at + 1 :] for at in range(7)}
    bad |= {f"header with byte {at} garbled": plain[:at] + b"\xff" + plain[at + 1 :] for at in range(7)}
    bad |= {
        "a text": b"this is no scene\n",
        "zeros": bytes(len(plain)),
        "a zip": b"PK\x03\x04" + plain[4:],
        "compressed by bzip2": bz2.compress(plain),
        "compressed by xz": lzma.compress(plain),
        "compressed by zlib": zlib.compress(plain),
        "compressed by gzip, cut off": gzip.compress(plain)[:-2000],
        "compressed by gzip, garbled": gzip.compress(plain)[:20] + bytes(2000) + gzip.compress(plain)[2020:],
        "something before it": b"x" + plain,
        "line ends of Windows": plain.replace(b"\n", b"\r\n"),
        "sent as text": plain.decode("latin-1").encode(),
        "the last third is zeros": plain[: len(plain) * 2 // 3] + bytes(len(plain) - len(plain) * 2 // 3),
        "big-endian": plain.replace(b"BLENDER-v", b"BLENDER-V").replace(b"BLENDER17-", b"BLENDER17_"),
        "of a big-endian machine": b"BLENDER-V300" + plain[12:],
        "a format to come": plain.replace(b"BLENDER17-01", b"BLENDER17-09").replace(b"BLENDER-v", b"BLENDER-x"),
    }
    return bad


def garbled(plain: bytes, packed: bytes, random) -> tuple[str, bytes]:
    """A file that is damaged somewhere; what Blender makes of it is not known."""
    places = blocks(plain)
    kind = random.choice(["bytes", "packed", "version", "heads", "names", "pointers", "zeros", "twice", "gone", "swap"])
    content = bytearray(packed if kind == "packed" else plain)
    start, end, _ = random.choice(places[:-2])
    if kind in {"bytes", "packed"}:
        for _ in range(random.choice([1, 8, 64, 512])):
            content[random.randrange(12, len(content))] = random.randrange(256)
    elif kind == "version":
        at, digits = version_digits(plain)
        content[at : at + digits] = f"{random.randrange(450, 600):0{digits}}".encode()
    elif kind == "heads":
        content[start + random.randrange(24)] = random.randrange(256)
    elif kind == "names":
        first, last, _ = places[-2]
        content[random.randrange(first, last)] = random.randrange(256)
    elif kind == "pointers" and end - start > 48:
        at = start + 32 + 8 * random.randrange((end - start - 32) // 8)
        content[at : at + 8] = struct.pack("<Q", random.choice([0, 1, 2**63, random.randrange(2**48)]))
    elif kind == "zeros":
        size = random.choice([16, 256, 4096])
        at = random.randrange(17, len(content) - size)
        content[at : at + size] = bytes(size)
    elif kind in {"twice", "gone"}:
        content[start:end] = bytes(content[start:end]) * (2 if kind == "twice" else 0)
    elif kind == "swap":
        (start, end, _), (begin, stop, _) = sorted(random.sample(places[:-2], 2))
        content[start:stop] = content[begin:stop] + content[end:begin] + content[start:end]
    return kind, bytes(content)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))
