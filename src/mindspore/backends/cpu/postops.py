"""Operations that a convolution or matrix product applies to its own result before it stores it.

A pass over the loop program: what follows a convolution or product and is its only user moves into it, as far as
oneDNN has a fast implementation of the combination: adding a bias or another tensor (the residual), scaling channels, and
ReLU at the end. A normalisation with fixed statistics is a scaling and a shift per channel; where the filters and the
statistics are weights that do not change from call to call, the scaling goes into the filters (`Lowering` computes
what depends on weights alone once), and nothing is left of it at run time.

What cannot be absorbed stays where it was, so every combination has an unfused fallback. Types of 16 bits stay out of it:
each of their operations rounds, and a step would round once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mindspore.backends.cpu import dnnl
from mindspore.compiler.fuse.loopir import OpaqueCall, Program, Slot, Unsupported, Value
from mindspore.prims.conv import ForwardConvolution
from mindspore.prims.linalg import MatrixProduct

if TYPE_CHECKING:
    from mindspore.prims.primitive import Primitive

_LONGEST = 8  # operations absorbed by one step


@dataclass(frozen=True)
class Post:
    """`kind`: "bias", "add" or "mul" (with an operand), or "relu" or "clip" (without), which come last.

    `per_channel`: the operand has one number per channel, instead of the result's shape. `low`, `high`: of "clip".
    `proven`: the step must prove that there is no NaN before it bounds its results (`magnitudes.py`).
    """

    kind: str
    per_channel: bool = False
    low: float = 0.0
    high: float = 0.0
    proven: bool = False

    @property
    def has_operand(self) -> bool:
        return self.kind in ("bias", "add", "mul")

    @property
    def effect(self) -> str:
        """`kind`, where a ReLU on numbers that are finite (a bound below alone) is one, too."""
        return "relu" if self.kind == "clip" and (self.low, self.high) == (0.0, math.inf) else self.kind


class Fused:
    """A primitive together with what it absorbed; stands where a primitive would."""

    effect = False
    awaited = False

    def __init__(self, prim: Primitive, posts: tuple[Post, ...], shape: tuple[int, ...]):
        self.prim = prim
        self.posts = posts
        self.shape = shape  # of the primitive's own result; absorbed reshapes only split its leading dimensions
        self.name = "+".join([prim.name, *(p.kind for p in posts)])

    def __repr__(self) -> str:
        return self.name


def without_relu(posts: tuple[Post, ...]) -> tuple[Post, ...]:
    return posts[:-1] if posts and posts[-1].kind == "relu" else posts


def without_bound(posts: tuple[Post, ...]) -> tuple[Post, ...]:
    """Those of a step that computes exactly whatever the numbers are; a ReLU or bound comes after it."""
    return posts[:-1] if posts and (posts[-1].kind == "relu" or posts[-1].proven) else posts


def is_sum(posts: tuple[Post, ...]) -> bool:
    """Whether nothing but additions of tensors and a bias happens before a bound that must be proven."""
    before = posts[:-1] if posts and posts[-1].proven else posts
    return all(p.kind in ("bias", "add") and not p.per_channel for p in before)


def parts(prim: Any) -> tuple[Any, tuple[Post, ...]]:
    """A primitive and what it absorbed."""
    return (prim.prim, prim.posts) if isinstance(prim, Fused) else (prim, ())


def channel_desc(target: dnnl.Desc, axis: int) -> dnnl.Desc:
    """One number per channel of a result."""
    return dnnl.Desc.strided(tuple(d if i == axis else 1 for i, d in enumerate(target.shape)), target.dtype)


def descriptions(posts: tuple[Post, ...], target: dnnl.Desc, axis: int) -> list[tuple]:
    """What a primitive with the given result is told about its post-operations; a bias is not one of them."""
    found: list[tuple] = []
    for post in posts:
        if post.kind == "bias":
            continue
        if post.has_operand:
            found.append((post.kind, channel_desc(target, axis) if post.per_channel else target))
        else:
            found.append((post.kind, post.low, post.high) if post.kind == "clip" else (post.kind,))
    return found


#: plan(prim, posts, operand shapes, result shape, dtype): raises where oneDNN has nothing fast for the combination
Plan = Callable[[Any, tuple[Post, ...], list[tuple[int, ...]], tuple[int, ...], str], Any]


def absorb(program: Program, plan: Plan, constant: Iterable[int], finite: bool = False) -> None:
    """Rewrite a program in place. `constant`: numbers of the parameters that stay the same from call to call.

    `finite`: results before a bound are numbers. oneDNN's clip makes the lower bound of NaN, so it is used only then or where it
    can be proven (convolutions by fixed filters), and a ReLU needs no look at its result.
    """
    _Absorbing(program, plan, frozenset(constant), finite).run()


class _Absorbing:
    def __init__(self, program: Program, plan: Plan, constant: frozenset[int], finite: bool):
        self.program = program
        self.finite = finite
        self.plan = plan
        self.constant = constant
        self.users: dict[int, list[Value]] = {}
        for value in program.values:
            for operand in value.args:
                self.users.setdefault(operand.id, []).append(value)
        self.outputs = {o.id for o in program.outputs}
        self._fixed: dict[int, bool] = {}
        self._possible: dict[tuple, bool] = {}
        self.before: dict[int, list[Value]] = {}  # value -> values to compute just before it
        self.gone: set[int] = set()

    def run(self) -> None:
        for value in list(self.program.values):
            if value.op == "opaque" and isinstance(value.attr.prim, (ForwardConvolution, MatrixProduct)):
                self._call(value)
        if self.gone:
            found: list[Value] = []
            for value in self.program.values:
                if value.id not in self.gone:
                    found += self.before.get(value.id, ())
                    found.append(value)
            self.program.values[:] = found

    def _call(self, call: Value) -> None:
        items = self.users.get(call.id, [])
        if len(items) != 1 or len(call.args) != 2 or any(v.dtype != "float32" for v in (items[0], *call.args)):
            return
        if any(0 in v.shape for v in (items[0], *call.args)):
            return
        chain = _Chain(self, call, items[0])
        chain.grow()
        chain.shorten(self._is_possible)
        if chain.links:
            chain.rewrite()

    def _is_possible(
        self, prim: Primitive, posts: tuple[Post, ...], shapes: list[Any], result: tuple[int, ...], dtype: str
    ) -> bool:
        """Whether oneDNN can do it; networks repeat themselves, so answers are kept."""
        key = (prim.key(), posts, tuple(shapes), result, dtype)
        if key not in self._possible:
            try:
                self.plan(prim, posts, shapes, result, dtype)
                self._possible[key] = True
            except (dnnl.DnnlError, Unsupported):
                self._possible[key] = False
        return self._possible[key]

    def is_fixed(self, value: Value) -> bool:
        """Whether a value depends on nothing but constants and weights that stay the same."""
        found = self._fixed.get(value.id)
        if found is None:
            if value.op == "input":
                kind, which = value.attr
                found = kind == "constant" or which in self.constant
            else:
                found = value.op not in ("opaque", "item") and all(map(self.is_fixed, value.args))
            self._fixed[value.id] = found
        return found


@dataclass
class _Link:
    """One absorbed operation: what it is, its operand, the value it gives, and what it makes superfluous."""

    post: Post | None  # None: a reshape
    operand: Value | None
    result: Value
    replaced: list[Value]


class _Chain:
    """A convolution or product and what follows it."""

    def __init__(self, owner: _Absorbing, call: Value, item: Value):
        self.owner = owner
        self.call = call
        self.item = item
        self.prim = call.attr.prim
        self.is_product = isinstance(self.prim, MatrixProduct)
        rank = len(item.shape)
        self.axis = rank - 1 if self.is_product or self.prim.channels_last else 1
        self.links: list[_Link] = []

    # -- finding --------------------------------------------------------------------------------------------------
    def grow(self) -> None:
        value = self.item
        while len(self.links) < _LONGEST and value.id not in self.owner.outputs:
            link = self._next(value)
            if link is None:
                return
            self.links.append(link)
            if link.post is not None and link.post.kind in ("relu", "clip"):
                return
            value = link.result

    def _next(self, value: Value) -> _Link | None:
        users = self.owner.users.get(value.id, [])
        if len(users) != 1:
            return None
        user = users[0]
        if user.op == "reshape" and self.is_product and len(user.shape) > 1 and user.shape[-1] == value.shape[-1]:
            return _Link(None, None, user, [user])
        if user.op != "map" or user.dtype != value.dtype or len(user.args) != 2:
            return None
        return self._arithmetic(value, user)

    def _arithmetic(self, value: Value, user: Value) -> _Link | None:
        other = user.args[1] if user.args[0] is value else user.args[0]
        if user.attr in ("max", "min"):
            return self._bounded(value, user, other)
        if user.attr not in ("add", "mul") or other.dtype != value.dtype or other.op == "const":
            return None
        if other.op != "broadcast":
            whole = user.attr == "add" and other.shape == value.shape
            return _Link(Post("add"), other, user, [user]) if whole else None
        small = other.args[0]
        axis = len(value.shape) - 1 if self.is_product else self.axis
        channels = value.shape[axis]
        if small.size != channels or small.shape[axis] != channels:
            return None
        return _Link(Post(user.attr, per_channel=True), small, user, [user])

    def _bounded(self, value: Value, user: Value, other: Value) -> _Link | None:
        """max(x, 0), or a bound on either side: one pass over the result is better than a ReLU here and a pass for the rest."""
        if other.op != "const":
            return None
        users = self.owner.users.get(user.id, [])
        opposite = {"max": "min", "min": "max"}[user.attr]
        if len(users) == 1 and users[0].op == "map" and users[0].attr == opposite and user.id not in self.owner.outputs:
            last = users[0]
            second = last.args[1] if last.args[0] is user else last.args[0]
            if second.op == "const":
                low, high = (other.attr, second.attr) if user.attr == "max" else (second.attr, other.attr)
                proven = not self.owner.finite
                if not low <= high or (proven and not (self._filters_are_fixed() and math.isfinite(high - low))):
                    return None
                return _Link(Post("clip", low=float(low), high=float(high), proven=proven), None, last, [user, last])
        if user.attr != "max" or other.attr != 0:
            return None
        post = Post("clip", high=math.inf) if self.owner.finite else Post("relu")
        return _Link(post, None, user, [user])

    # -- deciding -------------------------------------------------------------------------------------------------
    def shorten(self, possible: Callable[..., bool]) -> None:
        """Drop links from the end until oneDNN can do the rest."""
        shapes = [a.shape for a in self.call.args]
        while self.links:
            posts = tuple(post for post, _ in self._posts()[0])
            if self.links[-1].post is not None and possible(self.prim, posts, shapes, self.item.shape, self.item.dtype):
                return
            self.links.pop()

    def _posts(self) -> tuple[list[tuple[Post, Any]], list[Value]]:
        """The operations to apply with their operands, and the factors that go into the filters instead.

        What a convolution adds to its channels before such a factor is scaled, too: a bias is a list of (operand, factors).
        """
        found: list[tuple[Post, Any]] = []
        bias: list[tuple[Value, list[Value]]] = []
        factors: list[Value] = []
        for link in self.links:
            operand = link.operand
            if link.post is None:
                continue
            if operand is not None and link.post.per_channel and not found and self._is_fixed(operand):
                if link.post.kind == "add":
                    bias.append((operand, []))
                    continue
                if self._filters_are_fixed():
                    factors.append(operand)
                    for _, scales in bias:
                        scales.append(operand)
                    continue
            found.append((link.post, operand))
        if bias:
            found.insert(0, (Post("bias"), bias))
        elif found and found[0][0] == Post("add", per_channel=True):
            found[0] = (Post("bias"), [(found[0][1], [])])
        return found, factors

    def _is_fixed(self, operand: Value) -> bool:
        return self.item.dtype == "float32" and self.owner.is_fixed(operand)

    def _filters_are_fixed(self) -> bool:
        return not self.is_product and self.owner.is_fixed(self.call.args[1])

    # -- rewriting ------------------------------------------------------------------------------------------------
    def rewrite(self) -> None:
        posts, factors = self._posts()
        added: list[Value] = []
        x, weights = self.call.args
        for factor in factors:
            weights = self._scaled(weights, factor, added)
        found = [self._bias(o, added) if p.kind == "bias" else o for p, o in posts if o is not None]
        operands = (x, weights, *found)
        last = self.links[-1].result
        fused: Any = Fused(self.prim, tuple(p for p, _ in posts), self.item.shape) if posts else self.prim
        attr = OpaqueCall(fused, list(map(Slot, range(len(operands)))))
        call = Value("opaque", (), "", operands, attr, self.call.origin)
        self.owner.gone |= {self.call.id, self.item.id}
        self.owner.gone |= {v.id for link in self.links for v in link.replaced if v is not last}
        self.owner.before[last.id] = [*added, call]
        last.op, last.args, last.attr = "item", (call,), 0
        for value in (*added, call, last):  # later calls look at who uses what
            for operand in value.args:
                self.owner.users.setdefault(operand.id, []).append(value)

    def _map(self, name: str, a: Value, b: Value, added: list[Value]) -> Value:
        added.append(Value("map", a.shape, a.dtype, (a, b), name, self.call.origin))
        return added[-1]

    def _view(self, op: str, shape: tuple[int, ...], x: Value, added: list[Value]) -> Value:
        added.append(Value(op, shape, x.dtype, (x,), None, self.call.origin))
        return added[-1]

    def _bias(self, terms: list[tuple[Value, list[Value]]], added: list[Value]) -> Value:
        """The sum of what is added to the channels, each part scaled as the filters are."""
        found: Value | None = None
        for operand, factors in terms:
            for factor in factors:
                operand = self._map("mul", operand, factor, added)
            found = operand if found is None else self._map("add", found, operand, added)
        assert found is not None
        return found

    def _scaled(self, weights: Value, factor: Value, added: list[Value]) -> Value:
        """Filters (O, …) times a factor per output channel."""
        column = self._view("reshape", (factor.size,) + (1,) * (len(weights.shape) - 1), factor, added)
        return self._map("mul", weights, self._view("broadcast", weights.shape, column, added), added)
