import pytest

from latopo.reproduce.unit import Hashed
from latopo.reproduce.verify import judge

HERE = Hashed(cpu="fast", vector="AVX2", threads=1, torch="2", latopo="1")
LATER = Hashed({**HERE, "latopo": "2"})
ELSEWHERE = Hashed({**HERE, "vector": "AVX512"})
UNKNOWN = Hashed({**HERE, "cpu": None, "vector": None})


@pytest.fixture
def verdict(make_record):
    """Scores 0.7 and 0.9 in the store, a spread of 0.141; the first is trained again."""
    stored = [make_record(0.7, environment=HERE), make_record(0.9, fold=1, environment=HERE)]

    def make(score, environment, records=stored, **changes):
        return judge(records[0], make_record(score, environment=environment, seconds=9.0, **changes), records)

    return make


def test_the_same_machine_must_give_every_number_again(verdict):
    for machine in (HERE, LATER):
        assert verdict(0.7, machine)[0]
        assert not verdict(0.71, machine)[0]
        assert not verdict(0.7, machine, homophily=0.5)[0]
    assert verdict(0.7, HERE)[1].endswith("test 0.700, now 0.700 (same kind of machine: equal)")
    assert verdict(0.8, HERE)[1].endswith(
        "now 0.800 (same kind of machine: should be equal, but differs in test_score)"
    )


@pytest.mark.parametrize("machine", [ELSEWHERE, UNKNOWN])
def test_another_machine_must_stay_within_the_spread(verdict, machine):
    assert verdict(0.7, machine, homophily=0.5)[0]
    assert verdict(0.3, machine)[0]
    assert not verdict(0.2, machine)[0]
    assert verdict(0.3, machine)[1].endswith("now 0.300 (another or an unknown machine, spread 0.141)")
    assert verdict(0.2, machine)[1].endswith("spread 0.141: too far apart)")


def test_runs_with_other_settings_tell_nothing_about_the_spread(verdict, make_record):
    records = [make_record(0.7, environment=HERE), make_record(0.1, settings={"rounds": 2}), make_record(model="mlp")]
    alone = verdict(0.1, ELSEWHERE, records=records)
    assert alone[0]
    assert "spread unknown" in alone[1]
