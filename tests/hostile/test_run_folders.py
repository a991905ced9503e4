"""Class 6: whatever stands in a run folder, reading it answers or refuses in one line, in bounded time and memory."""

import hashlib
import json
import os
import shutil
import struct
from contextlib import suppress
from pathlib import Path

import pytest
from hostile.commands import run, write_table
from hostile.conftest import generated
from hypothesis import given
from hypothesis import strategies as st

from latopo.data import find_dataset
from latopo.data.raw_files import find_folder
from latopo.reproduce.unit import Hashed

VALUES = [
    None, True, 0, -1, 10**9, 10**30, 1e308, 0.5, "", "x", "../../etc/passwd", "\x1b[31m", "a" * 10**5, [], {}, [[]],
    [None], {"a": 1}, ["a", "a"], [1e300] * 100, "NaN", "Infinity", "1e999",
]  # fmt: skip
LOOKS = ["", "[" * 10**5, '{"a":' * 10**5, "NaN", "1" * 10**5, "\x00", "{}", "[]", "é"]


def damage_bytes(path, random):
    content = bytearray(path.read_bytes())
    kind = random.randrange(4)
    if kind == 0:
        del content[random.randrange(len(content)) :]
    elif kind == 1:
        for _ in range(random.randint(1, 20)):
            content[random.randrange(len(content))] = random.randrange(256)
    elif kind == 2:
        content += bytes(random.randrange(256) for _ in range(50))
    else:
        content = bytearray(struct.pack("<Q", random.choice([0, 8, 2**20, 2**40, 2**63])) + bytes(content[8:]))
    path.write_bytes(bytes(content))


def damage_values(path, random):
    """One value somewhere in a text file becomes another: anywhere in JSON, in a line of JSON Lines, a cell of CSV."""
    lines = [path.read_text()] if path.suffix == ".json" else path.read_text().splitlines()
    line = random.randrange(len(lines))
    if path.suffix == ".csv":
        cells = lines[line].split(",")
        cells[random.randrange(len(cells))] = str(random.choice(VALUES))
        lines[line] = ",".join(cells)
    else:
        lines[line] = _damaged_json(lines[line], random)
    path.write_text("\n".join(lines))


def _damaged_json(text, random):
    """The text of JSON in which one value somewhere is another, or something that only looks like JSON."""
    if random.random() < 0.2:
        return random.choice(LOOKS)
    content = json.loads(text)
    at, key = {"": content}, ""
    while isinstance(at[key], dict | list) and at[key] and random.random() < 0.8:
        at = at[key]
        key = random.choice(list(at)) if isinstance(at, dict) else random.randrange(len(at))
    if random.random() < 0.2 and isinstance(at, dict | list) and key != "":
        del at[key]
    else:
        at[key] = random.choice(VALUES)
        content = at[key] if key == "" else content
    return json.dumps(content).replace('"NaN"', "NaN").replace('"Infinity"', "Infinity").replace('"1e999"', "1e999")


def replace_file(path, random):
    path.unlink()
    kind = random.randrange(5)
    if kind == 0:
        os.mkfifo(path)
    elif kind == 1:
        path.symlink_to("/dev/zero")
    elif kind == 2:
        path.mkdir()
    elif kind == 3:
        with path.open("wb") as file:
            file.truncate(2**33)  # a hole: no room on the disk, all of memory when read
    else:
        path.symlink_to(path)


def forget_checksums(folder):
    """A stranger writes the checksums of what is there, or none."""
    with suppress(ValueError, AttributeError, KeyError, TypeError, OSError, RecursionError):
        content = json.loads((folder / "run.json").read_text())
        content.pop("checksums", None)
        (folder / "run.json").write_text(json.dumps(content))
    with suppress(ValueError, AttributeError, KeyError, TypeError, OSError, RecursionError):
        content = json.loads((folder / "estimator.json").read_text())
        content["checksums"] = {
            file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in content["checksums"]
        }
        (folder / "estimator.json").write_text(json.dumps(content))
    with suppress(ValueError, AttributeError, KeyError, TypeError, OSError, RecursionError):
        text = (folder / "records.jsonl").read_text()
        for line in filter(lambda line: line.startswith('{"define"'), text.splitlines()):
            item = json.loads(line)
            text = text.replace(item["define"], Hashed(item["content"]).hash)
        (folder / "records.jsonl").write_text(text)


KARATE = ["--epochs", 2, "--splits", "0-1", "--device", "cpu"]
MAKE = {
    "classes": ["fit", "TABLE", "--target", "kind", "--epochs", 2, "--quiet", "--keep-columns"],
    "few labels": ["fit", "TABLE", "--target", "kind", "--epochs", 2, "--labels", 3, "--quiet"],
    "values": ["fit", "TABLE", "--target", "weight", "--epochs", 2, "--quiet"],
    "nodes": ["train", "karate", "--snapshots", "1,2", *KARATE],
    "graphs": ["train", "mutag", *KARATE],
    "results": ["reproduce", "table1", "--datasets", "karate", "--models", "mlp", "--protocols", "honest", *KARATE],
    "few-labels": ["reproduce", "few-labels", "--datasets", "iris-tables-5", "--models", "logistic", "--splits", "0-1"],
}
READ = {
    "predict": (["predict", "RUN", "TABLE", "--out", "OUT"], ["classes", "few labels", "values"]),
    "report": (["report", "RUN", "--out", "OUT"], ["classes", "few labels", "values", "nodes", "graphs", "results"]),
    "baseline": (["report", "OTHER", "--baseline", "RUN", "--out", "OUT"], ["nodes"]),
    "go on": (None, ["nodes", "graphs", "results", "few-labels"]),
    "goals": (["reproduce", "goals", "--out", "RUN"], ["results"]),
    "verify": ([*MAKE["results"], "--verify", 1, "--out", "RUN"], ["results"]),
    "tables": ([*MAKE["results"][:2], "--tables-only", "--out", "RUN"], ["results"]),
    "merge": (["merge", "RUN", "--out", "OUT"], ["results"]),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with runs, each made when it is first asked for."""
    folder = tmp_path_factory.mktemp("strangers")
    table = write_table(folder)

    def make(kind):
        if kind == "graphs" and find_folder(find_dataset("mutag").raw_files) is None:
            pytest.skip("no raw files of mutag under the data root; set LATOPO_DATA")
        if not (folder / kind).exists():
            command = [table if part == "TABLE" else part for part in MAKE[kind]]
            assert run(*command, "--out", folder / kind).code == 0
        return folder / kind

    make.table = table
    return make


@pytest.mark.parametrize(("how", "kind"), [(how, kind) for how, (_, kinds) in READ.items() for kind in kinds])
def test_a_damaged_run_is_answered_in_one_line(how, kind, made, tmp_path):
    command, place = READ[how][0] or [*MAKE[kind], "--out", "RUN"], tmp_path / "place"
    places = {"RUN": place / "run", "OUT": place / "out.html", "OTHER": made(kind), "TABLE": made.table}
    arguments = [places.get(part, part) if isinstance(part, str) else part for part in command]
    suffixes = (".json", ".jsonl", ".csv", ".safetensors")
    names = sorted(str(path.relative_to(made(kind))) for path in made(kind).rglob("*") if path.suffix in suffixes)

    @given(st.sampled_from(names), st.randoms(use_true_random=False))
    def check(name, random):
        readable = not name.endswith(".safetensors")
        damage = random.choice([damage_bytes, replace_file, *([damage_values] * 3 if readable else [])])
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(made(kind), place / "run")
        damage(place / "run" / name, random)
        if random.random() < 0.8 and damage is not replace_file:
            forget_checksums(place / "run")
        try:
            run(*arguments, seconds=60).check(*([1] if how == "verify" else []))  # 1: a stored run does not hold
        except AssertionError as error:
            raise AssertionError(f"{damage.__name__} of {name}: {error}") from error
        assert {path.name for path in place.iterdir()} <= {"run", "out.html"}

    generated(check, 1, 30)()


def damaged(made, tmp_path, name, change):
    """A copy of a fitted run in which one file is changed."""
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
    target = Path(shutil.copytree(made("classes"), tmp_path / "run"))
    content = json.loads((target / name).read_text())
    change(content)
    (target / name).write_text(json.dumps(content))
    forget_checksums(target)
    return run("predict", target, made.table, "--out", tmp_path / "p.csv").check()


@pytest.mark.parametrize("size", [{"in_channels": 10**9}, {"out_channels": 2**40}, {"hidden_channels": 10**9}])
def test_sizes_that_the_weights_do_not_have_are_refused_before_memory_is_taken(size, made, tmp_path):
    def change(content):
        (content["settings"] if "hidden_channels" in size else content).update(size)

    assert damaged(made, tmp_path, "model.json", change).code == 2


def test_a_class_twice_is_refused(made, tmp_path):
    outcome = damaged(made, tmp_path, "estimator.json", lambda content: content.update(classes=["a", "a"]))
    assert "each once" in outcome.err


@pytest.mark.parametrize("stale", ["5", "[" * 10**5, '["../outside"]', None])
def test_what_a_replacement_left_behind_may_be_a_strangers(stale, made, tmp_path):
    target = Path(shutil.copytree(made("classes"), tmp_path / "run"))
    (tmp_path / "outside").write_text("mine")
    (target / ".latopo-ready").mkdir()
    if stale is None:
        os.mkfifo(target / ".latopo-ready" / "stale.json")
    else:
        (target / ".latopo-ready" / "stale.json").write_text(stale)
    run("report", target, "--out", tmp_path / "report.html", seconds=60).check()
    assert (tmp_path / "outside").read_text() == "mine"
