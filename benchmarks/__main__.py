"""``python -m benchmarks NAME``: run one benchmark and print its table.

A benchmark is a file of this folder with ``run(quick, plots)``, which returns a ``Report``.
"""

import argparse
import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
NOT_BENCHMARKS = ("__init__", "__main__", "report")


def names():
    """Names of all benchmarks."""
    return sorted(
        path.stem for path in FOLDER.glob("*.py") if path.stem not in NOT_BENCHMARKS and not path.stem.startswith("_")
    )


def main(arguments=None) -> int:
    """Run the benchmark that the command line names; 1 where a claim on counts does not hold."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=names())
    parser.add_argument("--quick", action="store_true", help="a smaller run, under a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write rows and claims here")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--only", nargs="+", metavar="SCENE", help="only these scenes, of a benchmark that has some")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="also save plots and pictures here")
    options = parser.parse_args(arguments)
    if options.plots:
        options.plots.mkdir(parents=True, exist_ok=True)
    benchmark = importlib.import_module(f".{options.name}", __package__)
    chosen = {}
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
