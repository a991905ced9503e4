"""Are stored runs what this machine would give? Some are trained again and compared."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import stdev

from latopo.reproduce.record import Record
from latopo.reproduce.unit import Hashed

__all__ = ["Verdict", "judge"]

# A run on another kind of CPU is another draw: two of one distribution differ by √2 standard deviations as a rule.
_TOLERANCE = 3.0


@dataclass(frozen=True)
class Verdict:
    """A stored run beside the same run trained again.

    Attributes:
        stored: the record of the store.
        again: the record of now.
        spread: sample standard deviation of the test scores of the same run over folds and seeds, None if unknown.
    """

    stored: Record
    again: Record
    spread: float | None

    @property
    def same_machine(self) -> bool:
        """Whether both were trained on the same kind of machine with the same versions of torch and numba."""
        return _machine(self.stored.environment) == _machine(self.again.environment)

    @property
    def holds(self) -> bool:
        """Whether every number is equal or, on another or an unknown machine, the score is within the spread."""
        if self.stored == replace(self.again, seconds=self.stored.seconds, environment=self.stored.environment):
            return True
        difference = abs(self.stored.test_score - self.again.test_score)
        return not self.same_machine and (self.spread is None or difference <= _TOLERANCE * self.spread)

    def __str__(self) -> str:
        """One line: the run, both scores, and what is to be expected."""
        scores = f"{self.stored.unit}: test {self.stored.test_score:.3f}, now {self.again.test_score:.3f}"
        if self.same_machine:
            return f"{scores} (same kind of machine: {'equal' if self.holds else 'should be equal'})"
        spread = "unknown" if self.spread is None else f"{self.spread:.3f}"
        return f"{scores} (another or an unknown machine, spread {spread}{'' if self.holds else ': too far apart'})"


def _machine(environment: Hashed) -> dict[str, object]:
    # The library's own version is not part of it: changed numbers are another run (``numerics``).
    return {name: value for name, value in environment.items() if name != "latopo"}


def judge(stored: Record, again: Record, records: Sequence[Record]) -> Verdict:
    """Compare a stored run with the same run trained again.

    Args:
        stored: the record of the store.
        again: the record of now.
        records: the store's records; those with the same settings give the spread.

    Example:
        >>> from latopo.reproduce import Unit
        >>> unit = Unit("mlp", "texas", graph=False, protocol="honest", fold=0)
        >>> stored, again = (Record(unit, score, 145, 19, 3, 1.5, 7) for score in (0.80, 0.75))
        >>> other = Record(replace(unit, fold=1), 0.9, 145, 19, 3, 1.5, 7)
        >>> print(judge(stored, replace(again, environment=Hashed(cpu="new")), [stored, other]))
        mlp on texas without graph, honest, fold 0, seed 0: test 0.800, now 0.750 (another or an unknown machine,
        spread 0.071)
    """
    scores = [record.test_score for record in records if record.key[:2] == stored.key[:2]]
    return Verdict(stored, again, stdev(scores) if len(scores) > 1 else None)
