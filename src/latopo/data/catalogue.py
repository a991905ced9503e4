"""What is known of every data set before a file is opened: where it comes from and how the paper treats it."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from latopo.errors import LatopoError

Family = Literal["planetoid", "coauthor", "webkb", "actor", "wikipedia", "filtered", "table", "karate"]
Task = Literal["classification", "regression"]
FeatureTreatment = Literal["row-normalised", "as given", "standardised", "unit range"]

_GEOM_GCN = "github.com/graphdml-uiuc-jlu/geom-gcn"


@dataclass(frozen=True)
class DatasetEntry:
    """One data set.

    Attributes:
        name: the canonical, lower-case name.
        title: the name as the paper and PyG write it.
        family: which reader opens it.
        source: where the raw files come from.
        raw_files: their paths under the data root; none if the data set comes with a library.
        split_files: the ten Geom-GCN splits, where they are files that loading does not need.
        aliases: other names that :func:`find_dataset` understands.
        features: what :func:`latopo.data.load` does to the features, the same for all models. Planetoid's rows are
            divided by their sums; other bags of words stay 0/1, for row-normalising costs 8 to 11 points on WebKB. The
            columns of tables have different units and are standardised (targets play no part); pixels are divided by
            their largest value.
        task: what ``y`` is.
        fold_seed: seed of the ten folds; the authors' for the paper's nine graphs, 0 for all others.
        epochs: how long the paper trains; sets that are not in the paper follow those of their kind.
        gain: the gain γ that the authors start from; None if they do not use the data set.
    """

    name: str
    title: str
    family: Family
    source: str
    raw_files: tuple[str, ...] = ()
    split_files: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    features: FeatureTreatment = "as given"
    task: Task = "classification"
    fold_seed: int = 0
    epochs: int = 200
    gain: float | None = None

    @property
    def embedded(self) -> bool:
        """Whether the data set comes with an installed library, so that no file is needed."""
        return not self.raw_files

    @property
    def has_graph(self) -> bool:
        """Whether a graph is given; tables have none."""
        return self.family != "table"

    @property
    def in_paper(self) -> bool:
        """Whether it is one of the paper's nine graphs; recipes are developed on the others only."""
        return self.gain is not None


def _planetoid(title: str, gain: float) -> DatasetEntry:
    name, folder = title.lower(), f"Planetoid/{title}"
    parts = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
    return DatasetEntry(
        name=name,
        title=title,
        family="planetoid",
        source="github.com/kimiyoung/planetoid",
        raw_files=tuple(f"{folder}/raw/ind.{name}.{part}" for part in parts),
        split_files=_split_files(f"{folder}/geom-gcn/raw", name),
        features="row-normalised",
        fold_seed=77,
        gain=gain,
    )


def _coauthor(title: str, epochs: int) -> DatasetEntry:
    return DatasetEntry(
        name=title.lower(),
        title=title,
        family="coauthor",
        source="github.com/shchur/gnn-benchmark",
        raw_files=(f"Coauthor/{title}/raw/ms_academic_{title[:3].lower()}.npz",),
        aliases=(f"coauthor-{title.lower()}",),
        fold_seed=77,
        epochs=epochs,
        gain=70.0,
    )


def _web_pages(title: str, fold_seed: int = 0, gain: float | None = None) -> DatasetEntry:
    name = title.lower()
    raw_files = _geom_gcn_files(f"WebKB/{name}/raw", name)
    return DatasetEntry(
        name, title, "webkb", _GEOM_GCN, raw_files=raw_files, fold_seed=fold_seed, epochs=100, gain=gain
    )


def _wikipedia(title: str) -> DatasetEntry:
    name = title.lower()
    raw_files = _geom_gcn_files(f"WikipediaNetwork/{name}/geom_gcn/raw", name)
    return DatasetEntry(name, title, "wikipedia", _GEOM_GCN, raw_files=raw_files, fold_seed=1045, epochs=100, gain=15.0)


def _filtered(title: str) -> DatasetEntry:
    return DatasetEntry(
        name=f"{title.lower()}-filtered",
        title=f"{title} (filtered)",
        family="filtered",
        source="github.com/yandex-research/heterophilous-graphs",
        raw_files=(f"filtered/{title.lower()}_filtered.npz",),
        aliases=(f"filtered-{title.lower()}",),
        epochs=100,
    )


def _table(
    name: str, title: str, features: FeatureTreatment = "standardised", task: Task = "classification"
) -> DatasetEntry:
    return DatasetEntry(name, title, "table", "scikit-learn", features=features, task=task)


def _geom_gcn_files(folder: str, name: str) -> tuple[str, ...]:
    return (f"{folder}/out1_node_feature_label.txt", f"{folder}/out1_graph_edges.txt", *_split_files(folder, name))


def _split_files(folder: str, name: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}_split_0.6_0.2_{fold}.npz" for fold in range(10))


_ENTRIES = (
    _planetoid("Cora", gain=50.0),
    _planetoid("CiteSeer", gain=20.0),
    _planetoid("PubMed", gain=50.0),
    _coauthor("CS", epochs=200),
    _coauthor("Physics", epochs=100),
    _web_pages("Texas", fold_seed=45, gain=5.0),
    _web_pages("Wisconsin", fold_seed=45, gain=10.0),
    _wikipedia("Chameleon"),
    _wikipedia("Squirrel"),
    _web_pages("Cornell"),
    DatasetEntry(
        "actor", "Actor", "actor", _GEOM_GCN, _geom_gcn_files("Actor/raw", "film"), aliases=("film",), epochs=100
    ),
    _filtered("Chameleon"),
    _filtered("Squirrel"),
    _table("digits", "Digits", features="unit range"),
    _table("wine", "Wine"),
    _table("breast_cancer", "Breast cancer"),
    _table("iris", "Iris"),
    _table("diabetes", "Diabetes", task="regression"),
    DatasetEntry("karate", "Karate club", "karate", "PyG"),
)


def _plain(name: str) -> str:
    """A name without case, spaces and punctuation: ``Chameleon_Filtered`` is ``chameleon-filtered``."""
    return "".join(letter for letter in name.casefold() if letter.isalnum())


_BY_NAME = {_plain(name): entry for entry in _ENTRIES for name in (entry.name, entry.title, *entry.aliases)}


def list_datasets() -> tuple[str, ...]:
    """Canonical names of all data sets, the paper's nine graphs first.

    Example:
        >>> list_datasets()[:3]
        ('cora', 'citeseer', 'pubmed')
    """
    return tuple(entry.name for entry in _ENTRIES)


def find_dataset(name: str) -> DatasetEntry:
    """Look up a data set; case, spaces, hyphens and underscores do not matter.

    Example:
        >>> find_dataset("Chameleon_Filtered").name
        'chameleon-filtered'
        >>> find_dataset("Texas").gain
        5.0
    """
    entry = _BY_NAME.get(_plain(name))
    if entry is None:
        near = [_BY_NAME[match].name for match in get_close_matches(_plain(name), _BY_NAME, n=1)]
        hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(list_datasets())}"
        raise LatopoError(f"data: there is no data set {name!r}; {hint}")
    return entry
