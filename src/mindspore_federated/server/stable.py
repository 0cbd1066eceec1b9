"""Rounds of stable masks (STABLE_PW_ENCRYPT): for a few clients that do not vanish, such as the data centres of companies.

    startFLJob, exchangeKeys, getKeys     as in `masked.py`
    updateModel                           a vector under pairwise masks alone
    getModel                              the new model

Without secret shares a mask cannot be taken off afterwards. Once the list of keys is made every client on it has to upload:
then the masks cancel and the sum is exact. If one does not within the time window of updateModel, the round fails and says
who is missing, and no single update has been shown.
"""
from __future__ import annotations

import numpy as np

from mindspore_federated.secagg.ring import Ring
from mindspore_federated.server.aggregate import moved
from mindspore_federated.server.masked import MaskedRounds, unpack_masked


class StableRounds(MaskedRounds):
    """One server's part in the rounds of a job whose clients stay."""

    @property
    def stages(self) -> tuple[str, ...]:
        return ("exchangeKeys", "getKeys")

    def _wanted(self) -> int:
        return len(self._list("keys.list") or []) or super()._wanted()

    def _uploaders(self) -> list[str]:
        return self._list("keys.list") or []

    def _aggregate(self, partials: dict[str, bytes]) -> None:
        sums = [unpack_masked(data) for data in partials.values()]
        missing = set(self._uploaders()) - {name for names, _ in sums for name in names}
        if missing:
            self.fail(f"the masks of {sorted(missing)} cannot be taken off: with STABLE_PW_ENCRYPT every client uploads")
            return
        total: Ring = np.zeros(sum(value.size for value in self.model.values()), np.uint32)
        for _, part in sums:
            total += part
        sizes = self._sizes()
        samples = sum(sizes[name] for name in self._uploaders())
        self._publish(moved(self.model, self._average(total, samples), self.settings, self._optimizer), {})
