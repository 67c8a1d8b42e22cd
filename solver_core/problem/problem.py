"""The problems that solvers solve, their options and their results, as Python sees them.

Linear complementarity problem (LCP):      w = A x + b,   x >= 0,   w >= 0,   x' w = 0.

Contact problem: rows with bounds, of which friction's depend on normal impulses (``rows``).
"""

import math
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy  # its parts are loaded where they are first used
from numpy.typing import ArrayLike

from .rows import FRICTION_MODELS, RowArrays, SolverSettings

# The words of options that name a variant; kernels get their places.
CONJUGACIES = ("fletcher_reeves", "polak_ribiere")
STRATEGIES = ("perturbation", "zero", "random", "approximation")
LINEAR_SOLVERS = ("direct", "gmres")
POLAK_RIBIERE = CONJUGACIES.index("polak_ribiere")


class Status(IntEnum):
    """How a solver ended (Erleben 2013, section 7); a word a user may read is the name in lower case."""

    CONVERGED_ABSOLUTE = 0
    CONVERGED_RELATIVE = 1
    STAGNATED = 2
    ROUND_OFF = 3
    LOCAL_MINIMUM = 4
    NON_DESCENT = 5
    MAX_ITERATIONS = 6
    RAY_TERMINATION = 7
    CAPACITY = 8
    FAILED = 9
    CONFLICTING = 10

    @property
    def word(self) -> str:
        """Name as results and reports give it."""
        return self.name.lower()

    @property
    def converged(self) -> bool:
        """Whether the tolerance was met."""
        return self <= Status.CONVERGED_RELATIVE


# The statuses as kernels return them: Numba would take a member of the enumeration for a type of its own.
CONVERGED_ABSOLUTE = int(Status.CONVERGED_ABSOLUTE)
CONVERGED_RELATIVE = int(Status.CONVERGED_RELATIVE)
STAGNATED = int(Status.STAGNATED)
ROUND_OFF = int(Status.ROUND_OFF)
MAX_ITERATIONS = int(Status.MAX_ITERATIONS)
RAY_TERMINATION = int(Status.RAY_TERMINATION)
CAPACITY = int(Status.CAPACITY)
FAILED = int(Status.FAILED)
CONFLICTING = int(Status.CONFLICTING)


class ProblemError(ValueError):
    """A problem or an option that cannot be used; the message says which and why."""


class LCP:
    """A linear complementarity problem: w = A x + b, x >= 0, w >= 0, x' w = 0.

    Parameters
    ----------
    A : array_like, SciPy sparse array or LinearOperator [n, n]
        A sparse A is kept in compressed rows. A LinearOperator serves methods that need products with A only.
    b : array_like [n]

    Raises
    ------
    ProblemError
        The shapes do not match, or there is NaN, infinity or a complex number.

    Attributes
    ----------
    A : float64 [n, n]
        ndarray in C order, ``csr_array`` or LinearOperator; None where only ``factors`` are kept.
    b : float64 [n]
    factors : tuple or None
        (jacobian [n, m], inverse_mass [m, m]) of A = J M^-1 J', both ``csr_array``.
    """

    A: Any
    b: np.ndarray
    factors: "tuple[scipy.sparse.csr_array, scipy.sparse.csr_array] | None"

    def __init__(self, A: Any, b: ArrayLike):
        from scipy.sparse.linalg import LinearOperator

        self.b = _finite_array("b", b, 1)
        self.factors = None
        if isinstance(A, LinearOperator):
            self.A = A
        elif scipy.sparse.issparse(A):
            self.A = _finite_sparse("A", A)
        else:
            self.A = _finite_array("A", A, 2)
        if self.A.shape != (self.size, self.size):
            raise ProblemError(f"A has the shape {self.A.shape}; with b of {self.size} it must be {(self.size,) * 2}")

    @classmethod
    def from_factors(cls, jacobian: Any, inverse_mass: Any, b: ArrayLike) -> "LCP":
        """The problem with A = J M^-1 J', kept as J and M^-1.

        Parameters
        ----------
        jacobian : array_like or sparse [n, m]
        inverse_mass : array_like or sparse [m, m]
            Symmetric.
        b : array_like [n]

        Raises
        ------
        ProblemError
            The shapes do not match, M^-1 is not symmetric, or there is NaN, infinity or a complex number.
        """
        problem = cls.__new__(cls)
        problem.b = _finite_array("b", b, 1)
        jacobian = _finite_sparse("jacobian", jacobian)
        inverse_mass = _finite_sparse("inverse_mass", inverse_mass)
        width = jacobian.shape[1]
        if jacobian.shape[0] != problem.size:
            raise ProblemError(f"jacobian has {jacobian.shape[0]} rows; b has {problem.size}")
        if inverse_mass.shape != (width, width):
            raise ProblemError(f"inverse_mass has the shape {inverse_mass.shape}; it must be {(width, width)}")
        if not _is_symmetric(inverse_mass):
            raise ProblemError("inverse_mass is not symmetric")
        problem.factors = (jacobian, inverse_mass)
        problem.A = None
        return problem

    @property
    def size(self) -> int:
        """Number of variables n."""
        return len(self.b)

    @cached_property
    def scale(self) -> float:
        """max |b_i|, and 1 where b = 0: what relative residuals are relative to."""
        return (float(np.abs(self.b).max()) if self.size else 0.0) or 1.0

    @property
    def form(self) -> str:
        """How A is given: dense, sparse, factors or operator."""
        if self.factors is not None:
            return "factors"
        if isinstance(self.A, np.ndarray):
            return "dense"
        return "sparse" if scipy.sparse.issparse(self.A) else "operator"

    def apply(self, x: np.ndarray) -> np.ndarray:
        """A x."""
        if self.factors is not None:
            jacobian, inverse_mass = self.factors
            return jacobian @ (inverse_mass @ (jacobian.T @ x))
        return self.A @ x

    def slack(self, x: np.ndarray) -> np.ndarray:
        """w = A x + b."""
        return self.apply(x) + self.b

    @cached_property
    def explicit(self) -> Any:
        """A as an ndarray or ``csr_array``; the product of the factors where A is given by them.

        Raises
        ------
        ProblemError
            A is an operator.
        """
        if self.form == "operator":
            raise ProblemError("A is a LinearOperator; this needs its entries")
        if self.factors is not None:
            jacobian, inverse_mass = self.factors
            return scipy.sparse.csr_array(jacobian @ inverse_mass @ jacobian.T)
        return self.A

    @cached_property
    def dense(self) -> np.ndarray:
        """A as an ndarray in C order."""
        A = self.explicit
        return np.ascontiguousarray(A.toarray() if scipy.sparse.issparse(A) else A)

    @cached_property
    def sparse(self) -> "scipy.sparse.csr_array":
        """A in compressed rows."""
        A = self.explicit
        return A if scipy.sparse.issparse(A) else scipy.sparse.csr_array(A)

    @cached_property
    def diagonal(self) -> np.ndarray:
        """Diagonal of A."""
        if self.factors is not None:
            jacobian, inverse_mass = self.factors
            return np.asarray((jacobian @ inverse_mass).multiply(jacobian).sum(axis=1)).ravel()
        A = self.explicit
        return np.asarray(A.diagonal() if scipy.sparse.issparse(A) else np.diagonal(A)).copy()

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether A equals its transpose up to rounding."""
        return self.form == "factors" or _is_symmetric(self.explicit)


# Asymmetry of A relative to its largest entry that counts as rounding.
_SYMMETRY_TOLERANCE = 1e-10


@dataclass(frozen=True, kw_only=True)
class SolverOptions:
    """When a solver stops, and what is particular to some methods.

    Options of the second group are None where the method's own value is wanted; a method that does not have the
    option refuses any other value.

    Attributes
    ----------
    tolerance : float
        Relative to the residual's natural scale, |b|.
    absolute_tolerance : float
        On the residual itself; [m/s] for contacts.
    max_iterations : int or None
        None is the method's own limit.
    merit_tolerance : float
        Iterative methods on a plain LCP: stops as ``converged_absolute`` where the merit falls below (Erleben 2013,
        eq. 107).
    decrease_tolerance : float
        Likewise: stops as ``stagnated`` where the merit changes by less than this share of it (eq. 108).
    step_tolerance : float
        Likewise: stops as ``stagnated`` where no variable changes by more than this (eq. 109).
    relaxation : float
        jacobi, psor, amsor: factor lambda on a step of the plain method, between 0 and 2.
    alpha : float
        amgs, amsor: share of the accelerated splitting.
    omega : float64 [n]
        amgs, amsor on an LCP: diagonal of Omega, in place of alpha's.
    conjugacy : str
        nncg: one of ``CONJUGACIES``.
    line_search : bool
        nncg: Armijo's rule instead of the full step.
    strategy : str
        fischer_newton: element of the generalised Jacobian, one of ``STRATEGIES``.
    linear_solver : str
        Newton methods on an LCP: one of ``LINEAR_SOLVERS``.
    warm_start_sweeps : int
        Newton methods: sweeps of projected Gauss-Seidel before the first step.
    covering_vector : float64 [n]
        lemke on an LCP: positive.
    directions : int
        Polyhedral friction: corners of the polygon, even, from 4 on.
    seed : int
        Random strategies.
    """

    tolerance: float = 1e-6
    absolute_tolerance: float = 0.0
    max_iterations: int | None = None
    merit_tolerance: float = 0.0
    decrease_tolerance: float = 0.0
    step_tolerance: float = 0.0
    relaxation: float | None = None
    alpha: float | None = None
    omega: np.ndarray | None = None
    conjugacy: str | None = None
    line_search: bool | None = None
    strategy: str | None = None
    linear_solver: str | None = None
    warm_start_sweeps: int | None = None
    covering_vector: np.ndarray | None = None
    directions: int | None = None
    seed: int | None = None

    def __post_init__(self):
        for name in _TOLERANCES:
            value = getattr(self, name)
            if not 0.0 <= value < math.inf:
                raise ProblemError(f"{name} is {value}; it must be at least 0")
        for name, least in (("max_iterations", 0), ("warm_start_sweeps", 0), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and not (least <= value < math.inf and value == int(value)):
                raise ProblemError(f"{name} is {value}; it must be a whole number from {least} on")
        for name, words in (("conjugacy", CONJUGACIES), ("strategy", STRATEGIES), ("linear_solver", LINEAR_SOLVERS)):
            value = getattr(self, name)
            if value is not None and value not in words:
                raise ProblemError(f"{name} is {value!r}; it must be one of {', '.join(words)}")
        if self.relaxation is not None and not 0.0 < self.relaxation < 2.0:
            raise ProblemError(f"relaxation is {self.relaxation}; it must lie between 0 and 2")
        if self.alpha is not None and not 0.0 <= self.alpha < math.inf:
            raise ProblemError(f"alpha is {self.alpha}; it must be at least 0")
        if self.line_search not in (None, True, False):
            raise ProblemError(f"line_search is {self.line_search!r}; it must be True or False")
        if self.directions is not None and (self.directions < 4 or self.directions % 2):
            raise ProblemError(f"directions is {self.directions}; it must be an even number from 4 on")


_TOLERANCES = ("tolerance", "absolute_tolerance", "merit_tolerance", "decrease_tolerance", "step_tolerance")

# Options that only some methods have: on contacts, and on a plain LCP.
CONTACT_OPTIONS = (
    "relaxation",
    "alpha",
    "conjugacy",
    "line_search",
    "strategy",
    "warm_start_sweeps",
    "directions",
    "seed",
)
OWN_OPTIONS = (*CONTACT_OPTIONS, "omega", "linear_solver", "covering_vector")


def kernel_settings(options: SolverOptions, friction: str) -> SolverSettings:
    """``options``, filled with a method's own values (``registry.resolve_options``), as kernels read them."""
    plain: dict[str, Any] = {
        name: float(getattr(options, name)) for name in ("relaxation", "alpha") if getattr(options, name) is not None
    }
    whole: dict[str, Any] = {
        name: int(getattr(options, name))
        for name in ("max_iterations", "line_search", "warm_start_sweeps", "directions", "seed")
        if getattr(options, name) is not None
    }
    return SolverSettings(
        tolerance=float(options.tolerance),
        absolute_tolerance=float(options.absolute_tolerance),
        friction=FRICTION_MODELS.index(friction),
        conjugacy=CONJUGACIES.index(options.conjugacy or CONJUGACIES[0]),
        strategy=STRATEGIES.index(options.strategy or STRATEGIES[0]),
        **plain,
        **whole,
    )


@dataclass(frozen=True)
class ContactProblem:
    """A contact problem on rows, or with an explicit W.

    Attributes
    ----------
    rows : RowArrays or None
        ``count`` says how much of them is in use; ``impulse`` is not read. A row of a contact has no compliance.
    free_velocity : float64 [body_count, 6] or None
        v_free [m/s, rad/s].
    delassus : Delassus or None
        Instead of rows.
    """

    rows: RowArrays | None
    free_velocity: np.ndarray | None
    delassus: "Delassus | None" = None

    @classmethod
    def from_delassus(cls, W: Any, q: ArrayLike, mu: ArrayLike, compliance: ArrayLike | None = None) -> Self:
        """Contacts whose matrix is given.

        Parameters
        ----------
        W : array_like or sparse [3 contacts, 3 contacts]
            Rows normal, tangent, tangent of each contact in turn; may be singular, and asymmetric.
        q : array_like [3 contacts]
            u = W r + q.
        mu : array_like [contacts]
            Coefficients of friction.
        compliance : array_like [3 contacts], optional
            Added to the diagonal of W.

        Raises
        ------
        ProblemError
            The shapes do not match, there is NaN or infinity, mu or a compliance is negative.
        """
        b, friction = _finite_array("q", q, 1), _finite_array("mu", mu, 1, 0.0)
        added = _finite_array("compliance", np.zeros(len(b)) if compliance is None else compliance, 1, 0.0)
        matrix = scipy.sparse.csr_array(W, dtype=float)
        matrix.sum_duplicates()
        _finite_array("W", matrix.data, 1)
        if len(b) != 3 * len(friction) or matrix.shape != (len(b), len(b)) or len(added) != len(b):
            shapes = f"W {matrix.shape}, q {b.shape}, mu {friction.shape} and compliance {added.shape}"
            raise ProblemError(f"{shapes} do not match: {len(friction)} contacts have {3 * len(friction)} rows")
        if compliance is not None:
            matrix = scipy.sparse.csr_array(matrix + scipy.sparse.diags_array(added))
        return cls(None, None, Delassus(matrix, b, friction))


@dataclass(frozen=True)
class Delassus:
    """Contacts with an explicit W: u = W r + b.

    Attributes
    ----------
    matrix : csr_array [3 contacts, 3 contacts]
    b : float64 [3 contacts]
    friction : float64 [contacts]
    """

    matrix: "scipy.sparse.csr_array"
    b: np.ndarray
    friction: np.ndarray


@dataclass(frozen=True, kw_only=True)
class SolverResult:
    """How a solver ended; never NaN, also where it failed.

    Attributes
    ----------
    status : Status
    iterations : int
    residual : float
        Natural map, relative to the problem's scale (``residuals``).
    history : float64 [iterations or iterations + 1]
        The residual along the iterations as the method sees it, relative.
    seconds : float
        Time of the solve, compiling included where it happened.
    """

    status: Status
    iterations: int
    residual: float
    history: np.ndarray = field(repr=False)
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class LcpResult(SolverResult):
    """What a solver found for an LCP.

    Attributes
    ----------
    x : float64 [n]
    measures : LcpMeasures
        All error measures at x.
    merit_history : float64 [iterations + 1]
        What the method itself drives down; empty for pivoting methods.
    method : str
        Name of the method that found x, also where ``auto`` was asked.
    """

    x: np.ndarray
    measures: object
    merit_history: np.ndarray = field(repr=False)
    method: str


@dataclass(frozen=True, kw_only=True)
class ContactResult(SolverResult):
    """What a solver found for a contact problem.

    Attributes
    ----------
    r : float64 [row_count]
        Impulses [N s].
    velocity : float64 [body_count, 6] or None
        v = v_free + M^-1 J' r; None where W is explicit.
    worst_block : int
        Where the residual is largest; -1 where there is no block.
    merit_history : float64 [iterations]
        What the method itself drives down; empty where it has no such thing.
    """

    r: np.ndarray
    velocity: np.ndarray | None
    worst_block: int
    merit_history: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)


def _finite_array(name, value, dimensions, least=-np.inf) -> np.ndarray:
    if np.iscomplexobj(value):
        raise ProblemError(f"{name} is complex; it must be real")
    array = np.ascontiguousarray(value, dtype=float)
    if array.ndim != dimensions:
        raise ProblemError(f"{name} has {array.ndim} dimensions; it must have {dimensions}")
    if not np.all(np.isfinite(array)):
        raise ProblemError(f"{name} holds NaN or infinity")
    if np.any(array < least):
        raise ProblemError(f"{name} is {array.min()} at {np.argmin(array)}; it must be at least {least:g}")
    return array


def _finite_sparse(name, value) -> "scipy.sparse.csr_array":
    if np.iscomplexobj(value):
        raise ProblemError(f"{name} is complex; it must be real")
    matrix = scipy.sparse.csr_array(value, dtype=float)
    matrix.sum_duplicates()
    _finite_array(name, matrix.data, 1)
    return matrix


def _is_symmetric(matrix) -> bool:
    """Whether a square matrix, dense or sparse, equals its transpose up to rounding."""
    if 0 in matrix.shape:
        return True
    return bool(abs(matrix - matrix.T).max() <= _SYMMETRY_TOLERANCE * abs(matrix).max())
