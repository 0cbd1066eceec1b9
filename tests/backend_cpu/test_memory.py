"""The arena plan: tensors alive together never overlap, and memory is shared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mindspore.compiler.memory.plan import ALIGNMENT, Interval, plan, round_up

INTERVALS = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(0, 30), st.integers(0, 10)).map(
        lambda t: Interval(t[0], t[1], t[1] + t[2])
    ),
    max_size=40,
)


@given(INTERVALS)
def test_no_overlap(intervals):
    result = plan(intervals)
    for i, a in enumerate(intervals):
        assert result.offsets[i] % ALIGNMENT == 0
        assert result.offsets[i] + round_up(a.nbytes) <= result.peak
        for j, b in enumerate(intervals[:i]):
            if a.first <= b.last and b.first <= a.last:
                start, end = result.offsets[i], result.offsets[i] + a.nbytes
                assert end <= result.offsets[j] or result.offsets[j] + b.nbytes <= start


@given(INTERVALS)
def test_peak_is_between_the_bounds(intervals):
    result = plan(intervals)
    alive = [sum(round_up(i.nbytes) for i in intervals if i.first <= t <= i.last) for t in range(45)]
    assert max(alive, default=0) <= result.peak <= result.total


def test_a_chain_needs_two_buffers():
    result = plan([Interval(1000, i, i + 1) for i in range(10)])
    assert result.peak == 2 * round_up(1000)
    assert result.ratio == 0.2
