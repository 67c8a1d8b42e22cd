"""The Pythons take turns in the cases of grids: together they run each, and neither compiles all solvers."""

from types import SimpleNamespace

from common_kernels import methods_named
from turns import PYTHONS, left_to_others, turn_of_solver

from cairn.solver_core.solvers.registry import LCP_METHODS, METHODS, find_method


def case(name, marks=(), **parameters):
    return SimpleNamespace(
        nodeid=f"{name}[{'-'.join(map(str, parameters.values()))}]",
        callspec=SimpleNamespace(params=parameters),
        get_closest_marker=lambda name: name if name in marks else None,
    )


def run_by(items):
    """What each Python runs of them."""
    left = [left_to_others(items, python) for python in PYTHONS]
    return [[item for item in items if item not in those] for those in left]


def test_halves_that_together_are_all():
    items = [case("tests/core/test_a.py::test_b", seed=seed) for seed in range(40)]
    first, second = run_by(items)
    assert sorted(item.nodeid for item in first + second) == sorted(item.nodeid for item in items)
    assert min(len(first), len(second)) >= 10
    # no stripe: neighbours go together as often as not
    assert first not in (items[::2], items[1::2])


def test_what_runs_where_does_not_hang_on_what_else_is_collected():
    items = [case("tests/core/test_a.py::test_b", seed=seed) for seed in range(40)]
    first, _ = run_by(items)
    assert run_by(items[:25])[0] == [item for item in first if item in items[:25]]


def test_each_python_runs_each_test():
    alone = [case("tests/core/test_a.py::test_b", seed=0)]
    of_one_solver = [case("tests/core/test_a.py::test_c", method="nncg", seed=seed) for seed in range(5)]
    assert run_by(alone) == [alone, alone]
    assert sorted(map(len, run_by(of_one_solver))) == [1, 5]


def test_marked_tests_of_a_file_are_one_pythons():
    files = [
        [case(f"tests/addon/test_{n}.py::test_b", ["one_python"], seed=seed) for seed in (1, 2)] for n in range(20)
    ]
    first, second = run_by([item for file in files for item in file])
    assert sorted(item.nodeid for item in first + second) == sorted(item.nodeid for file in files for item in file)
    assert all((file[0] in first) == (file[1] in first) for file in files)
    assert min(len(first), len(second)) >= 10


def test_files_that_ask_kernels_alone_are_one_pythons():
    """With their tests without parameters; not so cases that name a solver, and what says that it runs on both."""
    names = [f"tests/core/physics/test_{number}.py" for number in range(20)]
    files = [[case(f"{name}::test_b", seed=1), SimpleNamespace(nodeid=f"{name}::test_c")] for name in names]
    for _, bare in files:
        bare.get_closest_marker = lambda name: None
    first, second = run_by([item for file in files for item in file])
    assert len(first) + len(second) == 40
    assert all((file[0] in first) == (file[1] in first) for file in files)
    assert min(len(first), len(second)) >= 10
    method = next(method for method in METHODS if turn_of_solver({"method": method}) == 1)
    solver = [case(f"{name}::test_d", method=method) for name in names]
    assert run_by(solver) == [[], solver]
    both = [case(f"{name}::test_e", ["every_python"], seed=1) for name in names]
    assert run_by(both) == [both, both]


def test_what_leans_on_python_runs_on_both():
    """The add-on, compiling itself, what says so, and tests without parameters."""
    whole = [
        case(f"tests/{name}.py::test_b", seed=seed) for seed in range(4) for name in ("addon/a", "core/compiled/a")
    ]
    whole += [case("tests/core/test_a.py::test_d", marks=["every_python"], seed=seed) for seed in range(4)]
    whole.append(SimpleNamespace(nodeid="tests/core/test_a.py::test_e", get_closest_marker=lambda name: None))
    assert run_by(whole) == [whole, whole]


def test_cases_of_a_solver_stay_together():
    """One Python each, the same whatever the friction if the kernel is, and about as many solvers to either."""
    choices = [
        {"method": method, "friction": friction} for method in METHODS for friction in find_method(method).frictions
    ]
    kernels = [
        {find_method(*chosen.values()).kernel for chosen in choices if turn_of_solver(chosen) == place}
        for place in range(len(PYTHONS))
    ]
    assert not kernels[0] & kernels[1]
    assert abs(len(kernels[0]) - len(kernels[1])) <= 1
    # the default one is compiled anyway
    assert turn_of_solver({"method": "auto", "friction": "cone"}) is None
    assert {turn_of_solver({"method": method}) for method in set(LCP_METHODS) - set(METHODS)} == {0, 1}


def test_compiled_ahead_is_what_the_cases_name():
    ids = ["tests/core/test_a.py::test_nncg[lemke-polyhedral-3]", "tests/core/test_a.py::test_pgs"]
    assert methods_named(ids) == ["auto", "lemke"]
