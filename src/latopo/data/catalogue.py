"""What is known of every data set before a file is opened: where it comes from and how the paper treats it."""

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

from latopo.data.raw_files import paths_under
from latopo.errors import LatopoError

Task = Literal["classification", "regression"]
FeatureTreatment = Literal["row-normalised", "as given", "standardised", "unit range"]

_READERS = "latopo.data.readers"
_GEOM_GCN = "github.com/graphdml-uiuc-jlu/geom-gcn"


@dataclass(frozen=True)
class DatasetEntry:
    """One data set. To add one, add its entry to this file.

    Files of a known format take one line, such as ``_web_pages("Washington")``; any other data set names its reader::

        DatasetEntry("moons", "Two moons", "scikit-learn", "my_package.moons:read", has_graph=False)

    with ``def read(entry: DatasetEntry, root: Path) -> Data``, which gives ``x``, ``y`` and, for a graph,
    ``edge_index``. Each raw file, if there are any, has a line in ``raw_files.txt``: path, SHA-256 and address.

    Attributes:
        name: the canonical, lower-case name.
        title: the name as the paper and PyG write it.
        source: where the data come from.
        reader: ``"module:function"`` that reads them; a string, so that listing data sets does not import torch.
        path: folder of the raw files under the data root, or the one file; empty if they come with a library.
        split_path: folder of the ten Geom-GCN splits if loading does not need them.
        masks: published splits that come with the data: Planetoid's ``"public"`` one, or ``"ten"`` as Geom-GCN has.
        aliases: other names that :func:`find_dataset` understands.
        features: what :func:`latopo.data.load` does to the features, the same for all models. Planetoid's rows are
            divided by their sums; other bags of words stay 0/1, since row-normalising costs 8 to 11 points on WebKB.
            The columns of tables have different units and are standardised (targets play no part); pixels are divided
            by their largest value.
        task: what ``y`` is.
        has_graph: whether a graph is given; tables have none.
        fold_seed: seed of the ten folds; the authors' for the paper's nine graphs, 0 for all others.
        epochs: how long the paper trains; sets that are not in the paper follow those of their kind.
        gain: the gain γ that the authors start from; None if they do not use the data set.
    """

    name: str
    title: str
    source: str
    reader: str
    path: str = ""
    split_path: str = ""
    masks: Literal["public", "ten"] | None = None
    aliases: tuple[str, ...] = ()
    features: FeatureTreatment = "as given"
    task: Task = "classification"
    has_graph: bool = True
    fold_seed: int = 0
    epochs: int = 200
    gain: float | None = None

    @property
    def raw_files(self) -> tuple[str, ...]:
        """Paths of the raw files under the data root; none if the data set comes with a library."""
        return paths_under(self.path)

    @property
    def split_files(self) -> tuple[str, ...]:
        """Paths of the ten Geom-GCN splits under the data root, if they are apart from the raw files."""
        return paths_under(self.split_path)

    @property
    def in_paper(self) -> bool:
        """Whether it is one of the paper's nine graphs; recipes are developed on the others only."""
        return self.gain is not None


def _planetoid(title: str, gain: float) -> DatasetEntry:
    return DatasetEntry(
        name=title.lower(),
        title=title,
        source="github.com/kimiyoung/planetoid",
        reader=f"{_READERS}:read_planetoid",
        path=f"Planetoid/{title}/raw",
        split_path=f"Planetoid/{title}/geom-gcn/raw",
        masks="public",
        features="row-normalised",
        fold_seed=77,
        gain=gain,
    )


def _coauthor(title: str, epochs: int) -> DatasetEntry:
    return DatasetEntry(
        name=title.lower(),
        title=title,
        source="github.com/shchur/gnn-benchmark",
        reader=f"{_READERS}:read_coauthor",
        path=f"Coauthor/{title}/raw/ms_academic_{title[:3].lower()}.npz",
        aliases=(f"coauthor-{title.lower()}",),
        fold_seed=77,
        epochs=epochs,
        gain=70.0,
    )


def _geom_gcn(
    title: str, path: str, fold_seed: int = 0, gain: float | None = None, aliases: tuple[str, ...] = ()
) -> DatasetEntry:
    return DatasetEntry(
        name=title.lower(),
        title=title,
        source=_GEOM_GCN,
        reader=f"{_READERS}:read_geom_gcn",
        path=path,
        masks="ten",
        aliases=aliases,
        fold_seed=fold_seed,
        epochs=100,
        gain=gain,
    )


def _web_pages(title: str, fold_seed: int = 0, gain: float | None = None) -> DatasetEntry:
    return _geom_gcn(title, f"WebKB/{title.lower()}/raw", fold_seed, gain)


def _wikipedia(title: str) -> DatasetEntry:
    return _geom_gcn(title, f"WikipediaNetwork/{title.lower()}/geom_gcn/raw", fold_seed=1045, gain=15.0)


def _filtered(title: str) -> DatasetEntry:
    return DatasetEntry(
        name=f"{title.lower()}-filtered",
        title=f"{title} (filtered)",
        source="github.com/yandex-research/heterophilous-graphs",
        reader=f"{_READERS}:read_filtered",
        path=f"filtered/{title.lower()}_filtered.npz",
        masks="ten",
        aliases=(f"filtered-{title.lower()}",),
        epochs=100,
    )


def _table(
    name: str, title: str, features: FeatureTreatment = "standardised", task: Task = "classification"
) -> DatasetEntry:
    reader = f"{_READERS}:read_embedded_table"
    return DatasetEntry(name, title, "scikit-learn", reader, features=features, task=task, has_graph=False)


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
    _geom_gcn("Actor", "Actor/raw", aliases=("film",)),
    _filtered("Chameleon"),
    _filtered("Squirrel"),
    _table("digits", "Digits", features="unit range"),
    _table("wine", "Wine"),
    _table("breast_cancer", "Breast cancer"),
    _table("iris", "Iris"),
    _table("diabetes", "Diabetes", task="regression"),
    DatasetEntry("karate", "Karate club", "PyG", f"{_READERS}:read_karate"),
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
