"""The branches of the recipe: what a head sees, and how it is trained."""

from typing import NamedTuple

from latopo.semi.metric import Metric
from latopo.semi.self_training import Balance

__all__ = ["Branch", "branches_for"]


class Branch(NamedTuple):
    """One way to answer.

    Attributes:
        space: ``X`` the row's own features, ``H`` diffused ones, ``XH`` both, ``M`` diffused over the trained metric's
            graph, ``S`` the labels that spread (it has no head, and says nothing of
            rows that they do not reach).
        c: C of the head.
        rho: weight of the guesses in self-training, see :func:`~latopo.semi.self_train`; 0: none.
        balance: of the guesses' classes; ``"prior"`` needs known shares.
    """

    space: str
    c: float = 1.0
    rho: float = 0.0
    balance: Balance = 1.0

    @property
    def name(self) -> str:
        """A text that :meth:`parse` reads.

        Example:
            >>> Branch("H", 1.0, 4.0, "prior").name, Branch.parse("H/1/4/prior") == Branch("H", 1.0, 4.0, "prior")
            ('H/1/4/prior', True)
        """
        balance = self.balance if self.balance == "prior" else f"{self.balance:g}"
        return f"{self.space}/{self.c:g}/{self.rho:g}/{balance}"

    @classmethod
    def parse(cls, name: str) -> "Branch":
        """From :attr:`name`."""
        space, c, rho, balance = name.split("/")
        return cls(space, float(c), float(rho), "prior" if balance == "prior" else float(balance))


_TABLE = (Branch("X", 0.3, 2.0), Branch("XH"), Branch("S"))
_WORDS = (Branch("X", 1.0, 4.0, 0.5), Branch("H", 1.0, 4.0, 0.5), Branch("XH", 10.0, 4.0, 0.5), Branch("S"))
_VALUES = (*(Branch(space, c) for space in "XH" for c in (0.01, 0.1, 1.0, 10.0)), Branch("S"))
# Documents with validation labels, by the labels per class: up to 30, up to 100, more.
_FEW = (
    *(Branch("H", c) for c in (1.0, 3.0, 10.0)),
    Branch("XH", 3.0),
    Branch("H", 1.0, 4.0, 0.5),
    Branch("H", 1.0, 4.0),
    *(Branch(space, 1.0, 4.0, "prior") for space in ("H", "XH", "X")),
    Branch("M", 1.0, 4.0, 0.5),
    Branch("M", 1.0, 4.0, "prior"),
)
_SOME = (
    *(Branch("H", c, 2.0, 0.5) for c in (3.0, 6.0, 10.0)),
    Branch("H", 3.0, 2.0, "prior"),
    Branch("XH", 3.0, 2.0, "prior"),
    *(Branch("M", c, 2.0, "prior") for c in (3.0, 6.0)),
)
_MANY = tuple(Branch(space, c) for space in ("X", "H", "XH") for c in (0.3, 1.0, 3.0, 10.0))


def branches_for(metric: Metric, num_classes: int, labels: int, held_out: int) -> tuple[Branch, ...]:
    """The branches to choose among; the more held-out labels, the longer the list that can be told apart.

    Args:
        metric: what the rows are.
        num_classes: 0 for values.
        labels: labelled rows.
        held_out: labels that the protocol gives for choosing; 0: the labelled rows themselves are cross-validated.

    Example:
        >>> from latopo.semi.metric import Numbers
        >>> import numpy as np
        >>> metric = Numbers.fit(np.eye(3))
        >>> [branch.space for branch in branches_for(metric, 3, labels=15, held_out=0)]
        ['X', 'XH', 'S']
    """
    if not num_classes:
        return _VALUES
    if metric.kind != "words":
        return _TABLE
    if not held_out:
        return _WORDS
    per_class = labels / num_classes
    return _FEW if per_class <= 30 else _SOME if per_class <= 100 else _MANY
