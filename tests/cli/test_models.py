from latopo.models import SYSTEMS


def test_every_system_is_listed_with_its_words(latopo):
    code, out, _ = latopo("models")
    assert code == 0
    for name, system in SYSTEMS.items():
        (line,) = [line for line in out.splitlines() if line.startswith(f"{name} ")]
        assert system.role in line
        assert system.words in line
