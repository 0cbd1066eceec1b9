"""Grouping values into kernels.

Values are visited in order; each tries to join the kernels that produce its operands. Two kernels join when no path
between them leads through a third one (else they would wait for each other) and when the members share one loop nest
(`Domain`) in which every reduction runs over the same axes. What only makes numbers of a whole tensor then joins a kernel that
reads the tensor anyway. Constants and positions are recomputed wherever they are
used, and so (at level 3) are cheap values where that moves less memory.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from mindspore._base import dtype as mstype
from mindspore.compiler.fuse.domain import Domain, Misfit, chain
from mindspore.compiler.fuse.flags import GraphKernelFlags
from mindspore.compiler.fuse.loopir import Program, Value

FREE = ("const", "iota")
_LONGEST_RECIPE, _SMALLER = 3, 8  # what is computed again: so many operations, from operands so many times smaller
_REACH_STEP = 32
_EXPENSIVE = {
    "exp", "log", "log1p", "tanh", "erf", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh",
    "atanh", "erfc", "expm1", "log2", "log10", "pow", "atan2", "hypot", "softplus", "sigmoid", "truncmod", "floormod",
    "lgamma",
}  # fmt: skip


class Cluster:
    """Values computed together: a fused kernel, or one opaque operation."""

    def __init__(self, members: list[Value], order: dict[int, int]):
        self.members = members
        self.low = min(order[m.id] for m in members)
        self.high = max(order[m.id] for m in members)
        self.reach = self.high  # the highest position in any cluster that must run before this one, or more
        self.copies: list[Value] = []  # values recomputed here though another cluster also computes them
        self.levels: dict[int, str] = {}  # member -> "whole", "kept" or "part": which axes of the kernel it walks
        self.parent: Cluster | None = None  # the cluster this one has joined
        self.sources: set[Cluster] = set()  # clusters read from, possibly joined to others since
        self.readers: set[Cluster] = set()  # clusters that read from this one, likewise

    def root(self) -> Cluster:
        cluster = self
        while cluster.parent is not None:
            if cluster.parent.parent is not None:
                cluster.parent = cluster.parent.parent  # a shorter way for who asks next
            cluster = cluster.parent
        return cluster

    def raise_reach(self, position: int) -> None:
        """Note, here and in all that runs later, that a cluster before them now extends to a position.

        Rounded up: a reach that is too high only costs a search, and most later raises find nothing left to do.
        """
        position |= _REACH_STEP - 1
        self.reach = position
        stack = [self]
        while stack:
            cluster = stack.pop()
            cluster.readers = {reader.root() for reader in cluster.readers}
            for reader in cluster.readers:
                if reader.reach < position:
                    reader.reach = position
                    stack.append(reader)

    @property
    def opaque(self) -> bool:
        return self.members[0].op == "opaque"

    def all_members(self) -> list[Value]:
        """Members, recomputed values, and the constants and positions they use, operands first."""
        found: dict[int, Value] = {}
        own = {m.id for m in (*self.members, *self.copies)}

        def visit(value: Value) -> None:
            if value.id in found:
                return
            for operand in value.args:
                base, _ = chain(operand)
                if base.id in own or base.op in FREE:
                    visit(base)
            found[value.id] = value

        for member in sorted((*self.copies, *self.members), key=lambda m: m.id):
            visit(member)
        return list(found.values())


class Clustering:
    def __init__(self, program: Program, flags: GraphKernelFlags, overwritten: Sequence[Value] = ()):
        """`overwritten`: inputs whose memory results may take."""
        self.flags = flags
        self.program = program
        self._overwritten = {v.id for v in overwritten}
        self.order = {v.id: i for i, v in enumerate(program.values)}
        self._of: dict[int, Cluster] = {}
        self._bases: dict[int, list[Value]] = {}
        self._copied: dict[int, list[Cluster]] = {}  # value -> clusters that compute it again
        self._new_levels: dict[int, str] = {}
        self._judged: dict[tuple, list[str] | None] = {}  # clusters of the same structure are judged once
        self.users: dict[int, list[Value]] = {}
        self.needed_outside: set[int] = {chain(o)[0].id for o in program.outputs}
        for value in program.values:
            if not value.is_view:
                for base in self.bases(value):
                    self.users.setdefault(base.id, []).append(value)

    # -- running --------------------------------------------------------------------------------------------------
    def run(self) -> list[Cluster]:
        for value in self.program.values:
            if value.is_view or value.op == "input" or (value.op in FREE and value.id not in self.needed_outside):
                continue
            if value.op == "item":
                self._of[value.id] = self._of[value.args[0].id]
                continue
            cluster = self._of[value.id] = Cluster([value], self.order)
            cluster.sources = {self._of[b.id].root() for b in self.bases(value) if b.id in self._of}
            for source in cluster.sources:
                source.readers.add(cluster)
                cluster.reach = max(cluster.reach, source.reach)
            if value.op != "opaque":
                cluster.levels = {value.id: "kept" if value.op == "reduce" else "whole"}
                self._join(value)
        self._share_passes()
        clusters = list(dict.fromkeys(c.root() for c in self._of.values()))
        if self.flags.opt_level >= 3:
            self._recompute(clusters)
        return clusters

    def cluster_of(self, value: Value) -> Cluster | None:
        found = self._of.get(value.id)
        return found.root() if found is not None else None

    def bases(self, value: Value) -> list[Value]:
        """The values that a value reads, behind views and without free ones."""
        found = self._bases.get(value.id)
        if found is None:
            behind = [chain(operand)[0] for operand in value.args]
            found = self._bases[value.id] = [b for b in behind if b.op not in FREE]
        return found

    def _join(self, value: Value) -> None:
        """Let a value join the kernels of its operands, the latest first."""
        for producer in sorted(self._of[value.id].sources, key=lambda c: -c.high):
            self._try_to_join(producer.root(), self._of[value.id].root())

    def _try_to_join(self, other: Cluster, mine: Cluster) -> bool:
        if other is mine or other.opaque or not self._may_join(other, mine):
            return False
        other.members = sorted((*other.members, *mine.members), key=lambda m: self.order[m.id])
        other.low, other.high = min(other.low, mine.low), max(other.high, mine.high)
        other.sources |= mine.sources
        other.readers |= mine.readers
        other.levels = self._new_levels
        mine.parent = other
        other.raise_reach(max(other.reach, mine.reach))
        return True

    def _share_passes(self) -> None:
        """Let kernels that only make numbers of a tensor (statistics, norms) join one that reads the tensor anyway."""
        for cluster in list(dict.fromkeys(c.root() for c in self._of.values())):
            read = self._reduced_to_numbers(cluster)
            readers = (self._of[u.id].root() for u in self.users.get(read.id, ())) if read is not None else ()
            for reader in dict.fromkeys(readers):
                if self._try_to_join(reader, cluster):
                    break

    def _reduced_to_numbers(self, cluster: Cluster) -> Value | None:
        """The one tensor that a kernel reads, if all it makes are numbers.

        None of those that are overwritten: the kernel that does so must be the last one to read them, element by element.
        """
        if cluster.opaque or any(o.shape for o in self.outputs(cluster)):
            return None
        inside = {m.id for m in cluster.members}
        read = {b.id: b for m in cluster.members for b in self.bases(m) if b.id not in inside}
        tensors = [b for b in read.values() if b.shape]
        if any(b.id in self._overwritten for b in tensors):
            return None
        return tensors[0] if len(tensors) == 1 and any(m.op == "reduce" for m in cluster.members) else None

    def _may_join(self, a: Cluster, b: Cluster) -> bool:
        if len(a.members) + len(b.members) > self.flags.composite_op_limit_size or not self._allowed(a, b):
            return False
        if self._path_around(a, b) or self._path_around(b, a):
            return False
        if self._obviously_fits(a, b):
            return True
        joined = Cluster(sorted((*a.members, *b.members), key=lambda m: self.order[m.id]), self.order)
        fits = self.fits(joined)
        self._new_levels = joined.levels
        return fits

    def _obviously_fits(self, a: Cluster, b: Cluster) -> bool:
        """One more map of values that walk the same axes: no need to look at the loops again."""
        value = b.members[0]
        if len(b.members) > 1 or value.op != "map":
            return False
        level = ""
        for operand in value.args:
            base, _ = chain(operand)
            if self.cluster_of(base) is not a:
                if base.op == "iota":
                    return False
                continue
            if operand is not base or a.levels.get(base.id) not in ("whole", "kept"):
                return False
            if level and a.levels[base.id] != level:
                return False
            level = a.levels[base.id]
        self._new_levels = {**a.levels, value.id: level}
        return bool(level)

    def _allowed(self, a: Cluster, b: Cluster) -> bool:
        """What the flags permit."""
        chosen = self.flags.disable_cluster_ops or self.flags.enable_cluster_ops_only
        if self.flags.opt_level >= 2 and not chosen:
            return True
        origins = {id(m.origin) for c in (a, b) for m in c.members}
        if len(origins) == 1:
            return True
        names = {m.origin.op.name for c in (a, b) for m in c.members if m.origin is not None}
        only = self.flags.enable_cluster_ops_only
        if names & set(self.flags.disable_cluster_ops) or (only and not names <= set(only)):
            return False
        if self.flags.opt_level == 1:
            return not any(m.op == "reduce" for c in (a, b) for m in c.members)
        return self.flags.opt_level >= 2

    # -- dependencies ---------------------------------------------------------------------------------------------
    def preds(self, cluster: Cluster) -> set[Cluster]:
        """The clusters that must run before one."""
        found = cluster.sources = {c.root() for c in cluster.sources} - {cluster}
        if cluster.copies:
            found = set()
            for member in (*cluster.members, *cluster.copies):
                for base in self.bases(member):
                    producer = self.cluster_of(base)
                    if producer is not None and producer is not cluster and base not in cluster.copies:
                        found.add(producer)
        return found

    def _path_around(self, a: Cluster, b: Cluster) -> bool:
        """Whether b depends on a through a third cluster."""
        if not a.readers:
            return False
        stack = [p for p in self.preds(b) if p is not a]
        seen = set(stack)
        while stack:
            cluster = stack.pop()
            if cluster is a:
                return True
            if cluster.reach < a.high:
                continue  # else its reach would count a's members
            for pred in self.preds(cluster):
                if pred not in seen:
                    seen.add(pred)
                    stack.append(pred)
        return False

    # -- one loop nest? -------------------------------------------------------------------------------------------
    def outputs(self, cluster: Cluster) -> list[Value]:
        """Members that others read."""
        inside = {m.id for m in cluster.members}
        return [m for m in cluster.members if m.id in self.needed_outside or self._read_outside(m, inside)]

    def _read_outside(self, member: Value, inside: set[int]) -> bool:
        users = self.users.get(member.id, ())
        for user in users:
            if user.id not in inside and (not self._copied or member not in self._of[user.id].root().copies):
                return True
        if self._copied:
            own = self._of[member.id].root()
            for user in users:
                for cluster in self._copied.get(user.id, ()):
                    if cluster is not own and member not in cluster.copies:
                        return True
        return False

    def fits(self, cluster: Cluster) -> bool:
        everything, outputs = cluster.all_members(), self.outputs(cluster)
        key = self._structure(cluster, everything, outputs)
        if key not in self._judged:
            self._judged[key] = self._judge(cluster, everything, outputs)
        levels = self._judged[key]
        if levels is not None:
            cluster.levels = {m.id: level for m, level in zip(everything, levels) if level}
        return levels is not None

    def _judge(self, cluster: Cluster, everything: list[Value], outputs: list[Value]) -> list[str] | None:
        """Levels of the members if they fit into one kernel, "" for what is only recomputed there."""
        try:
            fits = self._is_kernel(cluster, Domain(everything), outputs)
        except Misfit:
            return None
        return [cluster.levels.get(m.id, "") for m in everything] if fits else None

    def _structure(self, cluster: Cluster, everything: list[Value], outputs: list[Value]) -> tuple:
        """All that decides whether a cluster fits, with members numbered instead of named."""
        numbers = {m.id: n for n, m in enumerate(everything)}
        members = {m.id for m in cluster.members}
        stored = {o.id for o in outputs}
        found = []
        for m in everything:
            links = []
            for operand in m.args:
                base, views = chain(operand)
                walk = tuple((v.op, v.shape, v.attr) for v in views) if views and base.id in numbers else ()
                links.append((numbers.get(base.id, -1), operand.shape, walk))
            attr = None if m.op in ("map", "const") else m.attr
            found.append((m.op, m.shape, attr, _is_expensive(m), m.id in members, m.id in stored, tuple(links)))
        return tuple(found)

    def _is_kernel(self, cluster: Cluster, domain: Domain, outputs: list[Value]) -> bool:
        whole, atoms = domain.all_atoms(), domain.member_atoms()
        reductions = [m for m in cluster.members if m.op == "reduce"]
        reduced = domain.reduced(reductions[0]) if reductions else frozenset()
        for r in reductions:
            if domain.reduced(r) != reduced or domain.of(domain.operand_dims[r.id, 0]) != whole:
                return False
        kept = whole - reduced
        names = {kept: "kept", whole: "whole"}
        cluster.levels = {m.id: names.get(atoms[m.id], "part") for m in cluster.members}
        if any(cluster.levels[value.id] == "part" for value in outputs):
            return False
        if any(cluster.levels[m.id] == "part" and m.size > 1 and _is_expensive(m) for m in cluster.members):
            return False  # a gate per channel, say, would be computed anew for every point
        return bool(reductions) or "whole" in cluster.levels.values()

    # -- recomputation --------------------------------------------------------------------------------------------
    def _recompute(self, clusters: list[Cluster]) -> None:
        """Spare the store of a cheap value where computing it again moves less memory."""
        for cluster in clusters:
            if cluster.opaque:
                continue
            for value in self.outputs(cluster):
                if value.id in self.needed_outside or value.op != "map" or _is_expensive(value):
                    continue
                self._copy_to_readers(cluster, value)

    def _copy_to_readers(self, cluster: Cluster, value: Value) -> None:
        """Let all readers of a value compute it. What they read instead ran before the cluster they waited for: no cycles."""
        inside = {m.id for m in cluster.members}
        recipe = self._recipe(cluster, value, inside)
        users = [u for u in self.users.get(value.id, ()) if u.id not in inside]
        copied = [c for u in self.users.get(value.id, ()) for c in self._copied.get(u.id, ()) if c is not cluster]
        readers = list(dict.fromkeys([*(self._of[u.id].root() for u in users), *copied]))
        operands = [b for v in recipe for b in self.bases(v) if all(b is not r for r in recipe)]
        if not recipe or any(reader.opaque for reader in readers) or not self._pays(value, operands, readers):
            return
        added = [(reader, v) for reader in readers for v in recipe if all(c is not v for c in reader.copies)]
        for reader, v in added:
            reader.copies.append(v)
            self._copied.setdefault(v.id, []).append(reader)
        if not all(map(self.fits, readers)):  # the cluster itself does, with a value less to store
            for reader, v in added:
                reader.copies.remove(v)
                self._copied[v.id].remove(reader)

    def _recipe(self, cluster: Cluster, value: Value, inside: set[int]) -> list[Value]:
        """The operations that compute a value from what is in memory, or is small and may be put there; [] if too many."""
        stored = {o.id for o in self.outputs(cluster)}
        found: dict[int, Value] = {}
        stack = [value]
        while stack:
            v = stack.pop()
            if v.id in found:
                continue
            if v.op != "map" or _is_expensive(v) or len(found) == _LONGEST_RECIPE:
                return []
            found[v.id] = v
            large = [
                b for b in self.bases(v) if b.id in inside and b.id not in stored and b.size * _SMALLER > value.size
            ]
            stack.extend(large)
        return list(found.values())

    def _pays(self, value: Value, operands: list[Value], readers: list[Cluster]) -> bool:
        """Whether readers computing a value move fewer bytes than storing it once and loading it in each."""
        stored = nbytes(value) * (1 + len(readers))
        loaded = 0
        for reader in readers:
            at_hand = {b.id for m in (*reader.members, *reader.copies) for b in self.bases(m)}
            loaded += sum(nbytes(b) for b in {b.id: b for b in operands}.values() if b.id not in at_hand)
        return loaded < stored


def _is_expensive(value: Value) -> bool:
    return value.op == "map" and value.attr in _EXPENSIVE


def nbytes(value: Value) -> int:
    return value.size * mstype.type_of_name(value.dtype).itemsize  # type: ignore[attr-defined]


def schedule(
    clustering: Clustering,
    clusters: list[Cluster],
    donated: list[Value] | None = None,
    first: list[Value] | None = None,
    last: list[Value] | None = None,
) -> list[Cluster]:
    """An order that respects dependencies and, among what is ready, first runs what frees most memory.

    Operations with effects on the world keep the order of the program: other processes rely on it. What takes its time elsewhere
    (`awaited` primitives) begins as soon as it can, and what reads its result waits while there is other work.

    Kernels that can overwrite an input of `donated` with its new value run after all other readers of that input. What computes
    `last` (new values of inputs) waits for what computes `first` (whether to go on), unless that needs it.
    """
    preds = {c: set(clustering.preds(c)) for c in clusters}
    forced: list[Cluster] = []  # kernels made to wait for others that they do not read from
    for value in donated or ():
        _write_last(clustering, value, preds, forced)
    _wait_for(clustering, first or [], last or [], preds, forced)
    _keep_effects_in_order(clustering, clusters, preds, forced)
    urgency = _urgencies(clusters, preds)
    succs: dict[Cluster, list[Cluster]] = {c: [] for c in clusters}
    for c, ps in preds.items():
        for p in ps:
            succs[p].append(c)
    readers = _readers(clustering, clusters)
    traffic = {c: _Traffic(clustering, c) for c in clusters}
    waiting = {c: len(ps) for c, ps in preds.items()}
    ready = [c for c in clusters if not waiting[c]]
    result: list[Cluster] = []
    while ready:
        best = min(ready, key=lambda c: (urgency[c], traffic[c].growth(readers), c.low))
        ready.remove(best)
        result.append(best)
        for base in traffic[best].read:
            readers.get(base, set()).discard(best)
        for c in succs[best]:
            waiting[c] -= 1
            if not waiting[c]:
                ready.append(c)
    if len(result) != len(clusters):
        raise ValueError("kernels wait for one another: the clustering has a cycle")
    return result


def _keep_effects_in_order(
    clustering: Clustering, clusters: list[Cluster], preds: dict[Cluster, set[Cluster]], forced: list[Cluster]
) -> None:
    ordered = sorted((c for c in clusters if c.opaque and c.members[0].attr.prim.effect == "io"), key=_moment)
    for before, after in itertools.pairwise(ordered):
        reach = min((c.high for c in forced), default=len(clustering.order))
        if not _depends(before, after, preds, reach):
            preds[after].add(before)
            forced.append(after)


def _moment(cluster: Cluster) -> tuple[int, int]:
    """When the program asked for an operation: nodes are numbered as they are made; their place in a graph is any that fits."""
    origin = cluster.members[0].origin
    return (origin.id if origin is not None else 0), cluster.low


def _awaited(cluster: Cluster) -> bool:
    return cluster.opaque and cluster.members[0].attr.prim.awaited


def _urgencies(clusters: list[Cluster], preds: dict[Cluster, set[Cluster]]) -> dict[Cluster, tuple[int, int]]:
    """What the first `awaited` operation needs comes first, and it itself at once; then what the second needs, and so on. Among
    equals, what reads a result of such an operation comes last."""
    begun = sorted((c for c in clusters if _awaited(c)), key=_moment)
    needed_by: dict[Cluster, int] = {}
    for number, cluster in enumerate(begun):
        stack = [cluster]
        while stack:
            c = stack.pop()
            if c not in needed_by:
                needed_by[c] = number
                stack.extend(preds[c])
    place = {c: n for n, c in enumerate(begun, start=1)}
    reads = {c: -1 if c in place else max((place[p] for p in preds[c] if p in place), default=0) for c in clusters}
    return {c: (needed_by.get(c, len(begun)), reads[c]) for c in clusters}


def _write_last(
    clustering: Clustering, value: Value, preds: dict[Cluster, set[Cluster]], forced: list[Cluster]
) -> None:
    users = [c for u in clustering.users.get(value.id, ()) if (c := clustering.cluster_of(u)) is not None]
    readers = [c for c in dict.fromkeys(users) if c in preds]
    for writer in readers:
        results = [m for m in writer.members if m.id in clustering.needed_outside]
        if any(r.shape == value.shape and r.dtype == value.dtype for r in results):
            others = [r for r in readers if r is not writer]
            first = min((c.high for c in forced), default=len(clustering.order))
            if not any(_depends(r, writer, preds, first) for r in others):
                preds[writer] |= set(others)
                forced.append(writer)
            return


def _wait_for(
    clustering: Clustering,
    first: list[Value],
    last: list[Value],
    preds: dict[Cluster, set[Cluster]],
    forced: list[Cluster],
) -> None:
    deciding, waiting = ([c for v in values for c in _makers(clustering, v, preds)] for values in (first, last))
    for writer in dict.fromkeys(waiting):
        for cluster in dict.fromkeys(deciding):
            reach = min((c.high for c in forced), default=len(clustering.order))
            if cluster is not writer and not _depends(cluster, writer, preds, reach):
                preds[writer].add(cluster)
                forced.append(writer)


def _makers(clustering: Clustering, value: Value, preds: dict[Cluster, set[Cluster]]) -> list[Cluster]:
    """The kernel that computes a value, if one does."""
    base, _ = chain(value)
    cluster = clustering.cluster_of(base.args[0] if base.op == "item" else base)
    return [cluster] if cluster is not None and cluster in preds else []


def _depends(cluster: Cluster, on: Cluster, preds: dict[Cluster, set[Cluster]], first_forced: int) -> bool:
    """Whether a cluster waits for another. What does not reach as far as `on` cannot, unless through a forced edge."""
    stack, seen = [cluster], {cluster}
    while stack:
        for p in preds[stack.pop()]:
            if p is on:
                return True
            if p not in seen and p.reach >= min(on.high, first_forced):
                seen.add(p)
                stack.append(p)
    return False


def _readers(clustering: Clustering, clusters: list[Cluster]) -> dict[int, set[Cluster]]:
    found: dict[int, set[Cluster]] = {}
    for c in clusters:
        for m in (*c.members, *c.copies):
            for b in clustering.bases(m):
                if clustering.cluster_of(b) is not c:
                    found.setdefault(b.id, set()).add(c)
    return found


class _Traffic:
    """What running a cluster does to memory, in elements."""

    def __init__(self, clustering: Clustering, cluster: Cluster):
        self.cluster = cluster
        if cluster.opaque:
            results = [v for v in clustering.users.get(cluster.members[0].id, ()) if v.op == "item"]
        else:
            results = [o for o in clustering.outputs(cluster) if o.id not in clustering.needed_outside]
        self.made = sum(v.size for v in results)
        read = {b.id: b for m in (*cluster.members, *cluster.copies) for b in clustering.bases(m)}
        self.read = {number: b.size if b.op != "input" else 0 for number, b in read.items()}

    def growth(self, readers: dict[int, set[Cluster]]) -> int:
        """Elements allocated minus elements freed by running the cluster now, with `readers` of each value left."""
        return self.made - sum(size for number, size in self.read.items() if readers.get(number) == {self.cluster})
