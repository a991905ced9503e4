"""How hard the harness tries.

A sample of each kind of attack in ``make test``; many more in ``make hostile`` (``long``); and in ``make hostile
HOSTILE=every`` each write and rename of each command is a moment at which it is stopped, which takes an hour or more.
"""

import os
import random

import pytest
from hypothesis import HealthCheck, Phase, seed, settings

FORM = os.environ.get("LATOPO_HOSTILE", "short")
LONG, EVERY = FORM in ("long", "every"), FORM == "every"
SEED = int(os.environ.get("LATOPO_HOSTILE_SEED") or (random.SystemRandom().randrange(10**6) if LONG else 0))


def pytest_report_header():
    return f"hostile: {FORM} run, LATOPO_HOSTILE_SEED={SEED}"


def generated(test, short, long, part=0):
    """A test of hypothesis that is to be called: with so many examples, from our seed and the part of a test."""
    wrapped = settings(
        max_examples=long if LONG else short, deadline=None, database=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )(test)  # fmt: skip
    return seed(SEED + 10**6 * part)(wrapped)


@pytest.fixture
def sample(request):
    """A seeded sample of cases: ``sample(cases, short, long)``; all of them if there are no more."""

    def choose(cases, short, long=None):
        cases = list(cases)
        count = short if not LONG else len(cases) if long is None else long
        return random.Random(f"{SEED} {request.node.name}").sample(cases, min(count, len(cases)))

    return choose
