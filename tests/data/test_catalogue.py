from pkgutil import resolve_name

import pytest

from latopo.data import find_dataset, list_datasets
from latopo.errors import LatopoError

PAPER = {  # fold seed, gain, epochs
    "cora": (77, 50, 200),
    "citeseer": (77, 20, 200),
    "pubmed": (77, 50, 200),
    "cs": (77, 70, 200),
    "physics": (77, 70, 100),
    "texas": (45, 5, 100),
    "wisconsin": (45, 10, 100),
    "chameleon": (1045, 15, 100),
    "squirrel": (1045, 15, 100),
}


def test_paper_constants():
    entries = [find_dataset(name) for name in list_datasets()]
    assert {e.name: (e.fold_seed, e.gain, e.epochs) for e in entries if e.in_paper} == PAPER
    assert all(entry.fold_seed == 0 for entry in entries if not entry.in_paper)


def test_features_are_row_normalised_for_planetoid_only():
    treated = {name for name in list_datasets() if find_dataset(name).features == "row-normalised"}
    assert treated == {"cora", "citeseer", "pubmed"}
    assert all(find_dataset(name).features == "as given" for name in list_datasets()[3:13])


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("Cora", "cora"),
        ("PUBMED", "pubmed"),
        ("Coauthor CS", "cs"),
        ("film", "actor"),
        ("squirrel_filtered", "squirrel-filtered"),
        ("Filtered Chameleon", "chameleon-filtered"),
        ("breast-cancer", "breast_cancer"),
        ("Karate Club", "karate"),
    ],
)
def test_spellings(spelling, name):
    assert find_dataset(spelling).name == name


def test_names_are_unique_and_found():
    names = list_datasets()
    assert len(set(names)) == len(names) == 25
    assert all(find_dataset(name).name == name for name in names)


def test_unknown_name_suggests_a_near_one():
    with pytest.raises(LatopoError, match="'wisconsn'; did you mean 'wisconsin'"):
        find_dataset("wisconsn")
    with pytest.raises(LatopoError, match="choose from cora, citeseer"):
        find_dataset("???")


def test_embedded_and_tables():
    embedded = {name for name in list_datasets() if not find_dataset(name).raw_files}
    assert embedded == {"digits", "wine", "breast_cancer", "iris", "diabetes", "karate"}
    assert {name for name in embedded if find_dataset(name).has_graph} == {"karate"}


def test_every_reader_exists():
    assert all(callable(resolve_name(find_dataset(name).reader)) for name in list_datasets())
