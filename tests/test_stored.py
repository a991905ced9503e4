import json
import os

import pytest

from latopo._stored import read_json, read_stored
from latopo.errors import LatopoError

RUN = {"format": 1, "kind": "a", "rows": 3, "name": None, "scores": [0.5, 1], "part": {"kind": "a"}}
FORM = {
    "format": int,
    "kind": {"a", "b"},
    "rows": int,
    "name": str | None,
    "scores": [int | float],
    "part": {"kind": str},
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.json"


def test_what_has_the_form_passes(path):
    path.write_text(json.dumps({**RUN, "more": True}))
    assert read_json(path, FORM, version=1) == {**RUN, "more": True}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": "3"}, r"run.json is damaged \(expected the type int at 'rows', got 3\); fit again"),
        ({"kind": "c"}, "expected one of a, b at 'kind', got c"),
        ({"kind": []}, "expected one of a, b"),
        ({"rows": True}, "expected the type int at 'rows', got True"),
        ({"name": [1]}, r"expected the type str \| None at 'name', got \[1\]"),
        ({"scores": {}}, r"expected a list at 'scores', got \{\}"),
        ({"scores": [0.5, None]}, r"expected the type int \| float at 'scores', got None"),
        ({"part": []}, r"expected an object at 'part', got \[\]"),
        ({"part": {}}, "expected the type str at 'kind', got None"),
        ({"scores": [float("nan")]}, "expected finite numbers, got NaN"),
        (
            {"format": 7, "latopo": "7.0"},
            r"run\.json was written by latopo 7.0 in format 7, .* reads format 1; install that version",
        ),
        ({"format": None, "latopo": "7.0"}, "in format None"),
    ],
)
def test_what_has_another_form_is_named(path, change, message):
    path.write_text(json.dumps({**RUN, **change}))
    with pytest.raises(LatopoError, match=message):
        read_json(path, FORM, version=1)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 200_000, b"[1e999]", b"9" * 5000, b"{} {}"])
def test_broken_files_are_one_clear_error(path, content):
    path.write_bytes(content)
    with pytest.raises(LatopoError, match=r"run.json is damaged \(.*\); run it again"):
        read_json(path, remedy="run it again")


def test_only_regular_files_of_some_size_are_read(tmp_path, path):
    with pytest.raises(LatopoError, match=r"run\.json cannot be read: No such file"):
        read_stored(path)
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(LatopoError, match="is not a regular file"):
            read_stored(odd)
    path.write_bytes(b"12345")
    assert read_stored(path, largest=5) == b"12345"
    with pytest.raises(LatopoError, match=r"of at most 4 bytes \(it has 5\)"):
        read_stored(path, largest=4)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
def test_names_that_no_file_can_have(tmp_path, name):
    with pytest.raises(LatopoError, match=r"cannot be (the name of a file|read)") as caught:
        read_stored(tmp_path / name)
    str(caught.value).encode()
