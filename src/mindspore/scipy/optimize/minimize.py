"""Quasi-Newton minimisation: BFGS and L-BFGS with a line search for the strong Wolfe conditions, and an augmented
Lagrangian for constraints (Nocedal and Wright, "Numerical Optimization", chapters 3, 6, 7 and 17).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindspore.common.gradient import value_and_grad
from mindspore.common.tensor import Tensor
from mindspore.ops.arguments import refuse_given


class OptimizeResults(NamedTuple):
    """What a minimisation gives."""

    x: Tensor
    success: bool
    status: int
    fun: Tensor
    jac: Tensor
    hess_inv: Any
    nfev: int
    njev: int
    nit: int


class LineSearchResults(NamedTuple):
    """What a line search gives."""

    a_k: float
    f_k: float
    g_k: Any
    nfev: int
    ngev: int
    failed: bool


class _Function:
    """A scalar function of one tensor, as a NumPy function that also gives the gradient and counts its calls."""

    def __init__(self, function: Callable, args: tuple, like: Tensor, gradient: Callable | None = None):
        self.evaluate: Callable = value_and_grad(lambda x: function(x, *args))
        if gradient is not None:
            self.evaluate = lambda x: (function(x, *args), gradient(x, *args))
        self.like = like
        self.calls = 0

    def __call__(self, x: np.ndarray) -> tuple[float, np.ndarray]:
        self.calls += 1
        value, grad = self.evaluate(Tensor(x.reshape(self.like.shape), self.like.dtype))
        return float(value), np.asarray(grad.asnumpy(), np.float64).reshape(-1)


def _search(
    function: Callable, x: np.ndarray, direction: np.ndarray, f0: float, g0: np.ndarray, c1: float = 1e-4,
    c2: float = 0.9, maxiter: int = 20,
) -> tuple[float, float, np.ndarray, bool]:  # fmt: skip
    """A step that meets the strong Wolfe conditions: bracket, then bisect with cubic steps (algorithms 3.5, 3.6)."""
    slope0 = float(g0 @ direction)

    def along(a: float) -> tuple[float, np.ndarray, float]:
        f, g = function(x + a * direction)
        return f, g, float(g @ direction)

    low, f_low, slope_low = 0.0, f0, slope0
    high: float | None = None
    a = 1.0
    f, g = f0, g0
    for _ in range(maxiter):
        f, g, slope = along(a)
        if not np.isfinite(f) or f > f0 + c1 * a * slope0 or (f >= f_low and low > 0):
            high = a
        elif abs(slope) <= -c2 * slope0:
            return a, f, g, True
        elif slope >= 0:
            low, f_low, slope_low, high = a, f, slope, low
        else:
            low, f_low, slope_low = a, f, slope
        if high is None:
            a *= 2
        else:
            a = _between(low, high, f_low, slope_low, f if high == a else None)
    return low, f_low, function(x + low * direction)[1], low > 0


def _between(low: float, high: float, f_low: float, slope: float, f_high: float | None) -> float:
    """The minimum of the parabola through both ends, kept away from them; the middle if there is none."""
    middle = (low + high) / 2
    if f_high is None or not np.isfinite(f_high):
        return middle
    width = high - low
    curve = f_high - f_low - slope * width
    if curve <= 0:
        return middle
    guess = low - slope * width * width / (2 * curve)
    margin = 0.1 * abs(width)
    return float(np.clip(guess, min(low, high) + margin, max(low, high) - margin))


def line_search(
    f: Callable, xk: Any, pk: Any, jac: Any = None, gfk: Any = None, old_fval: Any = None, old_old_fval: Any = None,
    c1: float = 1e-4, c2: float = 0.9, maxiter: int = 20,
) -> LineSearchResults:  # fmt: skip
    """A step length along `pk` that meets the strong Wolfe conditions."""
    function = _Function(f, (), xk, jac)
    x = np.asarray(xk.asnumpy(), np.float64).reshape(-1)
    f0, g0 = function(x)
    a, value, grad, found = _search(
        function, x, np.asarray(pk.asnumpy(), np.float64).reshape(-1), f0, g0, c1, c2, maxiter
    )
    return LineSearchResults(a, value, Tensor(grad, xk.dtype), function.calls, function.calls, not found)


def minimize(
    func: Callable, x0: Any, args: tuple = (), method: str | None = None, jac: Any = None, hess: Any = None,
    hessp: Any = None, bounds: Any = None, constraints: Any = (), tol: float | None = None, callback: Any = None,
    options: dict | None = None,
) -> OptimizeResults:  # fmt: skip
    """Minimise a scalar function of one tensor; `method` is 'BFGS', 'LBFGS' or 'LAGRANGE'.

    'LAGRANGE' keeps functions of `constraints` at most 0 (or what a dictionary {"type": "eq" or "ineq", "fun": …} says, as
    SciPy's do) and x between the options `lower` and `upper`.

    Examples:
        >>> import mindspore as ms
        >>> result = ms.scipy.optimize.minimize(lambda x: ((x - 2.0) ** 2).sum(), ms.Tensor([0.0]), method="BFGS")
        >>> round(float(result.x[0]), 3)
        2.0
    """
    name = (method or "BFGS").upper()
    settings = dict(options or {})
    limit = settings.get("maxiter") or 200 * x0.size
    tolerance = tol if tol is not None else settings.get("gtol", 1e-5)
    refuse_given("minimize", hess=hess, hessp=hessp, bounds=bounds, callback=callback)
    if name == "LAGRANGE":
        rules = _rules(constraints, settings.get("lower"), settings.get("upper"))
        return _lagrange(func, x0, args, rules, tolerance, limit)
    refuse_given("minimize", constraints=constraints)
    if name not in ("BFGS", "LBFGS", "L-BFGS-B"):
        raise ValueError(f"For 'minimize', 'method' must be 'BFGS', 'LBFGS' or 'LAGRANGE', but got {method!r}.")
    memory = None if name == "BFGS" else settings.get("history_size", 20)
    return _quasi_newton(_Function(func, args, x0, jac), x0, tolerance, limit, memory)


def _quasi_newton(function: _Function, x0: Tensor, tolerance: float, limit: int, memory: int | None) -> OptimizeResults:
    """BFGS with the full inverse Hessian, or its product form from the last `memory` steps."""
    x = np.asarray(x0.asnumpy(), np.float64).reshape(-1)
    f, g = function(x)
    inverse = np.eye(x.size) if memory is None else None
    steps: list[tuple[np.ndarray, np.ndarray]] = []
    status, iteration = 0, 0
    while np.abs(g).max(initial=0) > tolerance:
        if iteration >= limit:
            status = 1
            break
        direction = -(inverse @ g) if inverse is not None else -_two_loops(g, steps)
        if direction @ g >= 0:
            direction = -g
        a, f_new, g_new, found = _search(function, x, direction, f, g)
        iteration += 1
        if not found:
            status = 3
            break
        s, y = a * direction, g_new - g
        x, f, g = x + s, f_new, g_new
        if s @ y > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y):
            inverse = _updated(inverse, s, y) if inverse is not None else None
            steps = [*steps, (s, y)][-(memory or 1) :]
    return OptimizeResults(
        Tensor(x.reshape(x0.shape), x0.dtype), status == 0, status, Tensor(f, x0.dtype),
        Tensor(g.reshape(x0.shape), x0.dtype), None if inverse is None else Tensor(inverse, x0.dtype), function.calls,
        function.calls, iteration,
    )  # fmt: skip


def _updated(h: np.ndarray, s: np.ndarray, y: np.ndarray) -> np.ndarray:
    rho = 1 / (s @ y)
    left = np.eye(s.size) - rho * np.outer(s, y)
    return left @ h @ left.T + rho * np.outer(s, s)


def _two_loops(g: np.ndarray, steps: list) -> np.ndarray:
    """The product of the implicit inverse Hessian with g (algorithm 7.4)."""
    q, alphas = g.copy(), []
    for s, y in reversed(steps):
        alpha = (s @ q) / (s @ y)
        alphas.append(alpha)
        q = q - alpha * y
    if steps:
        s, y = steps[-1]
        q = q * (s @ y) / (y @ y)
    for (s, y), alpha in zip(steps, reversed(alphas)):
        q = q + s * (alpha - (y @ q) / (s @ y))
    return q


class _Rule(NamedTuple):
    """A constraint: `function(x)` is 0, or, where `may_exceed`, at least 0, element by element."""

    function: Callable
    may_exceed: bool


def _rules(constraints: Any, lower: Any, upper: Any) -> list[_Rule]:
    """A function alone must not be above 0; dictionaries are SciPy's."""
    rules = []
    for given in constraints if isinstance(constraints, (list, tuple)) else [constraints]:
        if isinstance(given, dict):
            rules.append(_Rule(given["fun"], given.get("type", "eq") == "ineq"))
        else:
            rules.append(_Rule(lambda x, f=given: -f(x), True))
    if lower is not None:
        rules.append(_Rule(lambda x: x - lower, True))
    if upper is not None:
        rules.append(_Rule(lambda x: upper - x, True))
    return rules


def _lagrange(
    func: Callable, x0: Any, args: tuple, rules: list[_Rule], tolerance: float, limit: int
) -> OptimizeResults:
    """Augmented Lagrangian: a minimisation for each set of multipliers."""
    multipliers = [np.zeros(np.shape(rule.function(x0).asnumpy()), np.float32) for rule in rules]
    weight, x, result = 10.0, x0, None
    for _ in range(30):
        target = _augmented(func, args, rules, [Tensor(m) for m in multipliers], weight)
        result = _quasi_newton(_Function(target, (), x), x, tolerance, limit, None)
        x = result.x
        violations = []
        for i, rule in enumerate(rules):
            value = rule.function(x).asnumpy()
            value = np.minimum(value, multipliers[i] / weight) if rule.may_exceed else value
            violations.append(float(np.abs(value).max(initial=0)))
            multipliers[i] = (multipliers[i] - weight * value).astype(np.float32)
        if max(violations, default=0.0) < max(tolerance, 1e-5):
            break
        weight *= 3
    assert result is not None
    return result._replace(fun=func(x, *args))


def _augmented(func: Callable, args: tuple, rules: list[_Rule], multipliers: list[Tensor], weight: float) -> Callable:
    from mindspore.ops import minimum

    def target(x: Any) -> Any:
        total = func(x, *args)
        for rule, multiplier in zip(rules, multipliers):
            value = rule.function(x)
            if rule.may_exceed:
                value = minimum(value, multiplier / weight)
            total = total + (0.5 * weight * value * value - multiplier * value).sum()
        return total

    return target
