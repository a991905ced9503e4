"""Without an extra everything else works, and whatever needs it says in one line how to get it."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
MODULES = {"dask": "distributed"}  # where the module has another name than the package

spec = importlib.util.spec_from_file_location("smoke", ROOT / "scripts" / "smoke.py")
smoke = importlib.util.module_from_spec(spec)
spec.loader.exec_module(smoke)
USES = [(extra, module) for extra, uses in smoke.EXTRAS.items() for module in uses]


def test_every_package_of_every_extra_is_for_something():
    for_users = DECLARED.keys() - {"all", "docs", "dev"}
    packages = {extra: [re.match(r"[\w-]+", need)[0] for need in DECLARED[extra]] for extra in for_users}
    declared = {(extra, MODULES.get(name, name)) for extra, names in packages.items() for name in names}
    assert declared == set(USES)
    assert DECLARED["all"] == [f"latopo[{','.join(smoke.EXTRAS)}]"]


@pytest.mark.parametrize(("extra", "module"), USES)
def test_a_missing_package_is_told_with_the_extra_that_has_it(extra, module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    message = smoke.told(smoke.EXTRAS[extra][module], tmp_path)
    assert f"latopo[{extra}]" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("extra", "module"), [use for use in USES if use[0] != "cluster"]
)  # tests/test_engine.py has it
def test_a_package_that_is_there_is_used(extra, module, tmp_path):
    smoke.EXTRAS[extra][module](tmp_path)
