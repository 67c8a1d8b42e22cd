"""``python -m benchmarks NAME``: run one benchmark and print its table.

A benchmark is a file of this folder, or a package in it, with ``run(quick, plots)``, which returns a ``Report``. One
that has options of its own adds them in ``add_arguments(parser)``, which returns their names; they are its keywords.
"""

import argparse
import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
NOT_BENCHMARKS = ("__init__", "__main__", "report", "problems", "rapier_joints")


def names():
    """Names of all benchmarks."""
    found = [path.stem for path in FOLDER.glob("*.py")] + [path.parent.name for path in FOLDER.glob("*/__init__.py")]
    return sorted(name for name in found if name not in NOT_BENCHMARKS and not name.startswith("_"))


def main(arguments=None) -> int:
    """Run the benchmark that the command line names; 1 where a claim on counts does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=names())
    parser.add_argument("--quick", action="store_true", help="a smaller run, under a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write rows and claims here")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--only", nargs="+", metavar="SCENE", help="only these scenes, of a benchmark that has some")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="also save plots and pictures here")
    named = next((word for word in (sys.argv[1:] if arguments is None else arguments) if word in names()), None)
    benchmark = named and importlib.import_module(f".{named}", __package__)
    own = benchmark.add_arguments(parser) if hasattr(benchmark, "add_arguments") else ()
    options = parser.parse_args(arguments)
    if options.plots:
        options.plots.mkdir(parents=True, exist_ok=True)
    chosen = {name: getattr(options, name) for name in own}
    if options.only:
        cases = getattr(benchmark, "CASES", None)
        if cases is None:
            parser.error(f"{options.name} has no scenes to choose from")
        unknown = [name for name in options.only if name not in cases]
        if unknown:
            parser.error(f"{options.name} has no scene {unknown[0]!r}; there are {', '.join(cases)}")
        chosen["only"] = options.only
    report = benchmark.run(options.quick, options.plots, **chosen)
    print(report.markdown() if options.markdown else report.text())
    if options.json:
        report.save(options.json)
    return 0 if report.holds() else 1


if __name__ == "__main__":
    sys.exit(main())
