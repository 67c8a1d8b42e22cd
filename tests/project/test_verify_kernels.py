"""``tools/verify_kernels.py``: what it finds in a zip whose kernels, record or sources are others."""

import hashlib
import json
import platform
import sys
import zipfile
from pathlib import Path

import pytest
import verify_kernels

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("solver_core/compiled/ready_made.py", "addon/cli.py")


def record_of(codes):
    kernels = {
        name: {"kernel": f"solvers.{name}", "file": f"{name}.o", "sha256": hashlib.sha256(code).hexdigest()}
        for name, code in codes.items()
    }
    return {"sources": "abc", "numba": "0.68.1", "processor": "x86-64-v3", "kernels": kernels}


CODES = {"sweep": b"one", "newton": b"two", "pivot": b"three"}


@pytest.fixture
def verdict(tmp_path, monkeypatch, capsys):
    """Verify a zip of kernels that come out as ``CODES`` when they are compiled anew; nothing is compiled."""
    monkeypatch.delenv("CAIRN_BLENDER", raising=False)

    def verify(codes=CODES, record=None, changes=(), words=(), made_for=None, rebuilt=CODES):
        record = record or record_of(CODES)
        here = verify_kernels.PLATFORMS[platform.system(), platform.machine()]
        build = {"platform": made_for or here, "python": "{}.{}".format(*sys.version_info)}
        path = tmp_path / "cairn.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in SOURCES:
                archive.writestr(name, (ROOT / name).read_bytes())
            for name, text in changes:
                archive.writestr(name, text)
            if codes is not None:
                archive.writestr("kernels/record.json", json.dumps(record))
                archive.writestr("build_record.json", json.dumps(build))
                for name, code in codes.items():
                    archive.writestr(f"kernels/{name}.o", code)

        def compile_anew(command, environment):
            assert Path(command[1]).read_bytes() == (ROOT / "tools" / "compile_kernels.py").read_bytes()
            assert (Path(command[1]).parents[1] / SOURCES[0]).is_file(), "of the zip's sources"
            assert not [name for name in environment if name.startswith("NUMBA_")]
            folder = Path(command[command.index("--output") + 1])
            folder.mkdir()
            (folder / "record.json").write_text(json.dumps(record_of(rebuilt)))

        monkeypatch.setattr(verify_kernels, "run", compile_anew)
        status = verify_kernels.main([str(path), *words])
        said = capsys.readouterr()
        return status, said.out.splitlines(), [line.removeprefix("verify_kernels: ") for line in said.err.splitlines()]

    return verify


def test_a_sound_zip_passes(verdict):
    status, found, problems = verdict()
    assert (status, problems) == (0, [])
    assert found == [
        "the sources in it are those of this checkout",
        "3 of 3 kernels were compiled anew, and are the same",
    ]


def test_a_part_of_the_kernels_may_be_asked_for(verdict):
    status, found, _ = verdict(words=("--methods", "pgs"), rebuilt={"sweep": b"one"})
    assert (status, found[-1]) == (0, "1 of 3 kernels were compiled anew, and are the same")


def test_a_zip_without_kernels_has_nothing_to_compile(verdict):
    status, found, problems = verdict(codes=None)
    assert (status, problems) == (0, [])
    assert found[-1] == "it carries no machine code but that of its wheels"


def test_code_that_is_not_what_its_record_says_is_named(verdict):
    status, _, problems = verdict(codes={**CODES, "sweep": b"harm", "more": b"harm"})
    assert status == 1
    assert problems == ["kernels/more.o stands in no record", "kernels/sweep.o is not what its record says"]


def test_code_that_comes_from_no_source_is_named(verdict):
    """Its record fits it, as whoever changes the one can change the other."""
    codes = {"sweep": b"one", "newton": b"harm", "pivot": b"three", "more": b"harm"}
    status, _, problems = verdict(codes=codes, record=record_of(codes))
    assert status == 1
    assert problems == [
        "kernel solvers.newton comes out otherwise",
        "kernel solvers.more comes from none of its sources",
    ]


def test_what_is_missing_is_named(verdict):
    codes = {"sweep": b"one", "newton": b"two"}
    assert verdict(codes=codes)[2] == ["kernels/pivot.o is missing"]
    assert verdict(codes=codes, record=record_of(codes))[2] == ["kernel solvers.pivot is missing in it"]


def test_other_sources_are_named(verdict):
    status, found, problems = verdict(changes=[("addon/harm.py", "harm = 1\n")])
    assert status == 1
    assert "addon/harm.py is not in this checkout" in problems
    assert "the sources in it are those of this checkout" not in found


def test_kernels_of_another_machine_are_not_compiled_here(verdict):
    status, _, problems = verdict(made_for="windows-x64" if sys.platform != "win32" else "linux-x64")
    assert status == 1
    assert len(problems) == 1
    assert problems[0].startswith("its kernels are for ")


@pytest.mark.parametrize("content", [b"", b"no zip", None])
def test_what_is_no_zip_is_said_in_a_line(tmp_path, capsys, content):
    path = tmp_path / "cairn.zip"
    if content is not None:
        path.write_bytes(content)
    assert verify_kernels.main([str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("verify_kernels: cannot be read as a zip of Cairn: ")
