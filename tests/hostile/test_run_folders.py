"""Class 6: whatever stands in a run folder, reading it answers or refuses in one line, in bounded time and memory."""

import json
import os
import random
import shutil
import struct

import pytest
from hostile.commands import run, write_table

VALUES = [
    None, True, 0, -1, 10**9, 10**30, 1e308, 0.5, "", "x", "../../etc/passwd", "\x1b[31m", "a" * 10**5, [], {}, [[]],
    [None], {"a": 1}, ["a", "a"], [1e300] * 100, "NaN", "Infinity", "1e999",
]  # fmt: skip


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


def damage_json(path, random):
    """One value somewhere in it becomes another, or the whole file something that only looks like JSON."""
    if random.random() < 0.2:
        path.write_text(random.choice(["", "[" * 10**5, '{"a":' * 10**5, "NaN", "1" * 10**5, "\x00", "{}", "[]", "é"]))
        return
    content = json.loads(path.read_text())
    at, key = {"": content}, ""
    while isinstance(at[key], dict | list) and at[key] and random.random() < 0.8:
        at = at[key]
        key = random.choice(list(at)) if isinstance(at, dict) else random.randrange(len(at))
    if random.random() < 0.2 and isinstance(at, dict | list) and key != "":
        del at[key]
    else:
        at[key] = random.choice(VALUES)
        content = at[key] if key == "" else content
    text = json.dumps(content)
    path.write_text(text.replace('"NaN"', "NaN").replace('"Infinity"', "Infinity").replace('"1e999"', "1e999"))


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
    for name in ("run.json", "estimator.json"):
        try:
            content = json.loads((folder / name).read_text())
            if name == "run.json":
                content.pop("checksums", None)
            else:
                import hashlib

                content["checksums"] = {
                    file: hashlib.sha256((folder / file).read_bytes()).hexdigest() for file in content["checksums"]
                }
            (folder / name).write_text(json.dumps(content))
        except (ValueError, AttributeError, KeyError, TypeError, OSError, RecursionError, MemoryError):
            pass


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strangers")
    table = write_table(folder)
    for name, target in (("classes", "kind"), ("values", "weight")):
        command = ["fit", table, "--target", target, "--epochs", 2, "--out", folder / name, "--quiet"]
        assert run(*command).code == 0
    return folder, table


@pytest.mark.parametrize("kind", ["classes", "values"])
@pytest.mark.parametrize("damage", [damage_json, damage_bytes, replace_file])
@pytest.mark.parametrize("command", ["predict", "report"])
def test_a_damaged_run_is_answered_in_one_line(command, damage, kind, fitted, tmp_path, sample):
    folder, table = fitted
    names = sorted(path.name for path in (folder / kind).iterdir() if path.suffix in (".json", ".safetensors"))
    names = [name for name in names if damage is not damage_json or name.endswith(".json")]
    for seed in sample(range(10**6), 2, 20):
        chance = random.Random(seed)
        target = tmp_path / "run"
        shutil.copytree(folder / kind, target)
        name = chance.choice(names)
        damage(target / name, chance)
        if chance.random() < 0.8 and damage is not replace_file:
            forget_checksums(target)
        before = sorted(path.name for path in tmp_path.iterdir())
        arguments = [table, "--out", tmp_path / "p.csv"] if command == "predict" else ["--out", tmp_path / "r.html"]
        outcome = run(command, target, *arguments, seconds=60)
        try:
            outcome.check()
        except AssertionError as error:
            raise AssertionError(f"{command}, seed {seed}, {damage.__name__} of {name}: {error}") from error
        assert {path.name for path in tmp_path.iterdir()} - set(before) <= {"p.csv", "r.html"}
        shutil.rmtree(target)
        for output in ("p.csv", "r.html"):
            (tmp_path / output).unlink(missing_ok=True)


def test_sizes_that_the_weights_do_not_have_are_refused_before_memory_is_taken(fitted, tmp_path):
    folder, table = fitted
    for change in ({"in_channels": 10**9}, {"out_channels": 2**40}, {"settings": {"hidden_channels": 10**9}}):
        target = tmp_path / "run"
        shutil.copytree(folder / "classes", target)
        content = json.loads((target / "model.json").read_text())
        content["settings"] |= change.pop("settings", {})
        (target / "model.json").write_text(json.dumps(content | change))
        forget_checksums(target)
        outcome = run("predict", target, table, "--out", tmp_path / "p.csv").check()
        assert outcome.code == 2, outcome
        shutil.rmtree(target)


def test_a_class_twice_is_refused(fitted, tmp_path):
    folder, table = fitted
    target = tmp_path / "run"
    shutil.copytree(folder / "classes", target)
    content = json.loads((target / "estimator.json").read_text())
    (target / "estimator.json").write_text(json.dumps(content | {"classes": ["a", "a"]}))
    forget_checksums(target)
    assert "each once" in run("predict", target, table, "--out", tmp_path / "p.csv").check().err
