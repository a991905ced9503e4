"""Are stored runs what this machine would give? Some are trained again and compared."""

from collections.abc import Sequence
from dataclasses import fields
from statistics import stdev

from latopo.reproduce.record import Record
from latopo.reproduce.unit import Hashed

__all__ = ["judge"]

# A run on another kind of CPU is another draw: two of one distribution differ by √2 standard deviations as a rule.
_TOLERANCE = 3.0


def judge(stored: Record, again: Record, records: Sequence[Record]) -> tuple[bool, str]:
    """Whether a stored run holds beside the same run trained again, and why, in one line.

    On the same kind of machine every number must be equal. On another, or an unknown one, the test score must lie
    within the spread over the folds and seeds of the same run.
    """
    scores = [record.test_score for record in records if record.key[:2] == stored.key[:2]]
    spread = stdev(scores) if len(scores) > 1 else None
    difference = abs(stored.test_score - again.test_score)
    apart = [field.name for field in fields(stored) if getattr(stored, field.name) != getattr(again, field.name)]
    apart = [name for name in apart if name not in ("seconds", "environment")]
    holds = not apart
    if _machine(stored.environment) == _machine(again.environment):
        why = f"same kind of machine: {'equal' if holds else 'should be equal, but differs in ' + ', '.join(apart)}"
    else:
        holds = holds or spread is None or difference <= _TOLERANCE * spread
        known = "unknown" if spread is None else f"{spread:.3f}"
        why = f"another or an unknown machine, spread {known}{'' if holds else ': too far apart'}"
    return holds, f"{stored.unit}: test {stored.test_score:.3f}, now {again.test_score:.3f} ({why})"


def _machine(environment: Hashed) -> dict[str, object]:
    # The library's own version is not part of it: changed numbers are another run (``numerics``).
    return {name: value for name, value in environment.items() if name != "latopo"}
