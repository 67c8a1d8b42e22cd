"""The solvers by name. A solver's file registers itself at its foot; the tables of files say where a name lives,
so that only the solver that is used is loaded and compiled.

``lcp/`` holds the solvers of plain linear complementarity problems, all other folders those of contact problems.
"""

import functools
import importlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..compiled.kernel import bind, subkernel
from ..compiled.views import StepArrays, arrays_of, numbers_of, views_of, whole
from ..problem.problem import OWN_OPTIONS, ProblemError, SolverOptions, kernel_settings
from ..problem.rows import FRICTION_MODELS, IslandProblem, SolverSettings

# name -> module; the order is the one in which users see them
_CONTACT_MODULES = {
    "auto": "auto",
    "alm_newton": "newton.alm_newton",
    "nncg": "sweeps.nncg",
    "pgs": "sweeps.pgs",
    "psor": "sweeps.pgs",
    "amgs": "sweeps.amgs",
    "amsor": "sweeps.amgs",
    "fischer_newton": "fischer_newton.fischer_newton",
    "staggered": "staggered",
    "lemke": "pivoting.lemke",
    "lemke_structural": "pivoting.lemke_structural",
    "lemke_reduced": "pivoting.lemke_reduced",
}
# (name, friction) -> file, where a method has another kernel for that model
_CONTACT_VARIANTS = {("auto", "polyhedral"): "auto_polyhedral"}
_LCP_MODULES = {
    "auto": "lcp.auto",
    "jacobi": "lcp.splitting.jacobi",
    "pgs": "lcp.splitting.pgs",
    "psor": "lcp.splitting.psor",
    "nncg": "lcp.splitting.nncg",
    "amgs": "lcp.splitting.amgs",
    "amsor": "lcp.splitting.amsor",
    "dantzig": "lcp.pivoting.dantzig",
    "lemke": "lcp.pivoting.lemke",
    "minmap_newton": "lcp.newton.minmap_newton",
    "fischer_newton": "lcp.newton.fischer_newton",
}

METHODS = tuple(_CONTACT_MODULES)
LCP_METHODS = tuple(_LCP_MODULES)

_contact_methods: dict[str | tuple[str, str], "Method"] = {}
_lcp_methods: dict[str, "LcpMethod"] = {}


@subkernel
def solve_rows(rows, islands, island, free_velocity, velocity, workspace, settings):
    """Stand-in for a method's kernel, which ``_kernel_of_islands`` binds."""
    raise NotImplementedError("an island was solved without a method")


@subkernel
def no_work(workspace):
    """Of a method that does nothing but sweep, or that does not say."""
    return 0.0


# Stand-in for a method's work, which ``_kernel_of_islands`` binds.
work_of = no_work


def _solve_island(problem, island, budget, exactly):
    """Solve an island by a method's kernel; ``budget`` [sweeps over it] and ``exactly`` as of ``SolverSettings``."""
    members = views_of(problem)
    contacts = members.islands.block_first[island + 1] - members.islands.block_first[island]
    # each worker has settings of its own
    members.settings.max_work[0], members.settings.exactly[0] = budget * contacts, exactly
    before = work_of(members.workspace)
    outcome = solve_rows(
        whole(members.rows),
        whole(members.islands),
        island,
        members.free_velocity,
        members.velocity,
        members.workspace,
        numbers_of(members.settings),
    )
    members.work[0] = outcome[1] + (work_of(members.workspace) - before) / max(contacts, 1)
    return outcome


@functools.cache
def _kernel_of_islands(method_kernel, work_of_method):
    name = f"{method_kernel.__name__}_of_islands"
    return bind(_solve_island, name, solve_rows=method_kernel, work_of=work_of_method)


@dataclass(frozen=True)
class Method:
    """One solver of contact problems.

    Attributes
    ----------
    name, title : str
        As options name it; as users see it.
    kernel : callable
        (rows, islands, island, free_velocity, velocity, workspace, settings)
        -> (status, iterations, residual [m/s], scale [m/s], worst block). It solves one island. Of ``rows``
        (RowArrays) it reads all, and ``impulse`` holds the start and is written; ``islands`` (IslandArrays), the
        number ``island`` and ``free_velocity`` (float64 [body_count, 6]) are read; ``velocity`` (float64
        [body_count, 6]) is v_free + M^-1 J' r at the start and is written; ``workspace`` is what ``allocate`` made,
        or views of it (``compiled.views``); ``settings`` are SolverSettings.
    frictions : tuple of str
        Models of friction that it knows.
    max_iterations : int
        Its own limit.
    source : str
    allocate : callable
        (row_capacity, body_capacity, history) -> workspace of the kernel, a NamedTuple.
    options : mapping of str to value
        The options of its own that it has, with its values for them.
    explicit : callable or None
        Where it can solve ``ContactProblem.from_delassus``:
        (delassus, r0, friction, options) -> (r, status, iterations, residual, scale, worst contact, history).
    fallbacks : callable or None
        (workspace) -> int64 [1], to which the kernel adds one for each time that another method had to take over.
    work : kernel
        (workspace) -> float, which grows by what solves cost beside sweeps, in visits of a contact.
    carried : tuple of str
        Fields of the workspace that the kernel keeps from call to call: NamedTuples of arrays with a place per body.
    """

    name: str
    title: str
    kernel: Callable
    frictions: tuple[str, ...]
    max_iterations: int
    source: str
    allocate: Callable
    options: Mapping[str, object] = field(default_factory=dict)
    explicit: Callable | None = None
    fallbacks: Callable | None = None
    work: Callable = no_work
    carried: tuple[str, ...] = ()

    @property
    def island_kernel(self) -> Callable:
        """(StepArrays of an IslandProblem, island, budget [sweeps over it], exactly) -> what ``kernel`` returns.

        One kernel for calls from Python and from a step, so that a method is compiled once.
        """
        return _kernel_of_islands(self.kernel, self.work)

    def solve_island(self, rows, islands, island, free_velocity, velocity, workspace, settings):
        """Call ``kernel`` from Python: the same arguments, and the same result."""
        free_velocity = np.require(free_velocity, float, ["C", "W"])
        given = IslandProblem(rows, islands, free_velocity, velocity, arrays_of(settings), np.zeros(1), workspace)
        return self.island_kernel(StepArrays(given), island, math.inf, 0.0)

    def carry(self, old, new) -> None:
        """Copy what the old workspace has carried from call to call to a larger one."""
        for name in self.carried:
            for source, target in zip(getattr(old, name), getattr(new, name), strict=True):
                target[:] = source

    def sharing(self, first, other):
        """A workspace for the same bodies that another worker uses to solve other islands at the same time."""
        return other._replace(**{name: getattr(first, name) for name in self.carried}) if self.carried else other


@dataclass(frozen=True)
class LcpMethod:
    """One solver of plain linear complementarity problems.

    Attributes
    ----------
    name, title : str
    function : callable
        (lcp, x0, options) -> (x, status, iterations, history, merit_history); ``options`` are complete. History holds
        the natural map in the infinity norm of the start and of each iterate. A sixth result is the name of another
        method, if that found x.
    suits : str
        The problems that it is right for, in words.
    max_iterations : int or callable (lcp) -> int
        Its own limit.
    source : str
    tolerance : float
        Its own, where the options leave it open; direct methods are judged by it.
    requires : callable (lcp) -> str or None
        What is wrong with a problem that it cannot solve; None where it can.
    forms : tuple of str
        Forms of A that it takes as they are (``LCP.form``); from other forms it needs the entries.
    options : mapping of str to value
        The options of its own that it has, with its values for them.
    """

    name: str
    title: str
    function: Callable
    suits: str
    max_iterations: int | Callable
    source: str
    tolerance: float = 1e-6
    requires: Callable = lambda lcp: None
    forms: tuple[str, ...] = ("dense", "sparse", "factors")
    options: Mapping[str, object] = field(default_factory=dict)

    def limit(self, lcp) -> int:
        """Its own limit of iterations for ``lcp``."""
        return self.max_iterations(lcp) if callable(self.max_iterations) else self.max_iterations


def register(method: Method | LcpMethod, variant: str | None = None) -> None:
    """Make a solver known; called at the foot of its file.

    Parameters
    ----------
    method : Method or LcpMethod
    variant : str, optional
        The one model of friction for which this is the method of that name.
    """
    if isinstance(method, LcpMethod):
        _lcp_methods[method.name] = method
    else:
        _contact_methods[method.name if variant is None else (method.name, variant)] = method


def find_method(name: str, friction: str | None = None) -> Method:
    """Load the contact solver called ``name``, which must know ``friction`` where that is given.

    Raises
    ------
    ValueError
        There is no such solver, or it does not know this model of friction.
    """
    method = _load(name, _CONTACT_MODULES, _contact_methods)
    if friction is None:
        return method
    if friction not in FRICTION_MODELS:
        raise ProblemError(f"there is no friction {friction!r}; choose one of {', '.join(FRICTION_MODELS)}")
    if friction not in method.frictions:
        raise ProblemError(f"solver {name!r} knows friction {', '.join(method.frictions)}, not {friction!r}")
    if (name, friction) in _CONTACT_VARIANTS:
        return _load((name, friction), _CONTACT_VARIANTS, _contact_methods)
    return method


def find_lcp_method(name: str) -> LcpMethod:
    """Load the solver of plain LCPs called ``name``.

    Raises
    ------
    ValueError
        There is no such solver.
    """
    return _load(name, _LCP_MODULES, _lcp_methods)


def resolve_options(method: Method | LcpMethod, options: SolverOptions, limit: int) -> SolverOptions:
    """``options`` with the method's own values where they are open.

    Raises
    ------
    ValueError
        An option is set that the method does not have.
    """
    for name in OWN_OPTIONS:
        if getattr(options, name) is not None and name not in method.options:
            known = ", ".join(method.options) or "none"
            raise ProblemError(f"solver {method.name!r} has no option {name!r}; it has {known}")
    values = {name: value for name, value in method.options.items() if getattr(options, name) is None}
    if options.max_iterations is None:
        values["max_iterations"] = limit
    return replace(options, **values)


def kernel_settings_of(method: Method, options: SolverOptions, friction: str) -> SolverSettings:
    """What a method's kernel is told: ``options``, with the method's own values where they are open.

    Raises
    ------
    ValueError
        An option is set that the method, or the model of friction, does not have.
    """
    if options.directions is not None and friction != "polyhedral":
        raise ProblemError(f"directions is {options.directions}; only friction 'polyhedral' has any, not {friction!r}")
    return kernel_settings(resolve_options(method, options, method.max_iterations), friction)


def _load(name, files, registered):
    if name not in files:
        raise ProblemError(f"there is no solver {name!r}; choose one of {', '.join(files)}")
    if name not in registered:
        importlib.import_module(f".{files[name]}", __package__)
    return registered[name]
