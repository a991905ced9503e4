"""What is known of every data set before a file is opened: where it comes from and how the paper treats it."""

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, Literal

from latopo.data.raw_files import paths_under
from latopo.errors import LatopoError

Task = Literal["classification", "regression"]
Level = Literal["node", "graph"]
FeatureTreatment = Literal["row-normalised", "as given", "standardised", "unit range"]


@dataclass(frozen=True)
class DatasetEntry:
    """One data set. To add one, add its entry to this file.

    One of a family that is here takes a line, ``_entry(_WEBKB, "Washington")``; any other names its reader::

        DatasetEntry("moons", "Two moons", "scikit-learn", "my_package.moons:read", has_graph=False)

    ``read(entry, root)`` gets the entry and the data root, and returns PyG ``Data`` with ``x``, ``y`` and, for a graph,
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
        level: what has a target: the nodes of one graph (or the rows of a table), or each graph of a set
            (:func:`latopo.data.load_graphs`).
        coordinates: whether the attributes of the nodes say where they are, so that graphs can be point clouds.
        fold_seed: seed of the ten folds; the authors' for the paper's nine graphs, 0 for all others.
        epochs: how long the paper trains; sets that are not in the paper follow those of their kind.
        gain: the gain γ that the authors start from; None if they do not use the data set.
        normalize_rows: whether the authors divide rows of features by their sums; None if they do not use it.
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
    level: Level = "node"
    coordinates: bool = False
    fold_seed: int = 0
    epochs: int = 200
    gain: float | None = None
    normalize_rows: bool | None = None

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


# What the data sets of a family have in common; {title} and {name} stand for the data set's own.
_PLANETOID = DatasetEntry(
    name="{name}",
    title="{title}",
    source="github.com/kimiyoung/planetoid",
    reader="latopo.data.readers:read_planetoid",
    path="Planetoid/{title}/raw",
    split_path="Planetoid/{title}/geom-gcn/raw",
    masks="public",
    features="row-normalised",
    fold_seed=77,
    normalize_rows=True,
)
_COAUTHOR = DatasetEntry(
    name="{name}",
    title="{title}",
    source="github.com/shchur/gnn-benchmark",
    reader="latopo.data.readers:read_coauthor",
    path="Coauthor/{title}/raw",
    aliases=("coauthor-{name}",),
    fold_seed=77,
    gain=70.0,
    normalize_rows=False,
)
_WEBKB = DatasetEntry(
    name="{name}",
    title="{title}",
    source="github.com/graphdml-uiuc-jlu/geom-gcn",
    reader="latopo.data.readers:read_geom_gcn",
    path="WebKB/{name}/raw",
    masks="ten",
    epochs=100,
)
_WIKIPEDIA = replace(
    _WEBKB, path="WikipediaNetwork/{name}/geom_gcn/raw", fold_seed=1045, gain=15.0, normalize_rows=True
)
_FILTERED = DatasetEntry(
    name="{name}-filtered",
    title="{title} (filtered)",
    source="github.com/yandex-research/heterophilous-graphs",
    reader="latopo.data.readers:read_filtered",
    path="filtered/{name}_filtered.npz",
    masks="ten",
    aliases=("filtered-{name}",),
    epochs=100,
)
_TABLE = DatasetEntry(
    name="{name}",
    title="{title}",
    source="scikit-learn",
    reader="latopo.data.readers:read_embedded_table",
    features="standardised",
    has_graph=False,
)
_TU = DatasetEntry(
    name="{name}",
    title="{title}",
    source="chrsmrrs.github.io/datasets",
    reader="latopo.data.graph_loading:read_tu",
    path="TUDataset/{title}/raw",
    level="graph",
    epochs=40,
)


def _entry(family: DatasetEntry, title: str, **facts: Any) -> DatasetEntry:
    """The entry of one data set: its family's, with its own title and facts."""
    names = {"title": title, "name": title.lower().replace(" ", "_")}
    own = {key: getattr(family, key).format(**names) for key in ("name", "title", "path", "split_path")}
    aliases = tuple(alias.format(**names) for alias in family.aliases)
    return replace(family, **{**own, "aliases": aliases, **facts})


_ENTRIES = (
    _entry(_PLANETOID, "Cora", gain=50.0),
    _entry(_PLANETOID, "CiteSeer", gain=20.0),
    _entry(_PLANETOID, "PubMed", gain=50.0),
    _entry(_COAUTHOR, "CS"),
    _entry(_COAUTHOR, "Physics", epochs=100),
    _entry(_WEBKB, "Texas", fold_seed=45, gain=5.0, normalize_rows=True),
    _entry(_WEBKB, "Wisconsin", fold_seed=45, gain=10.0, normalize_rows=True),
    _entry(_WIKIPEDIA, "Chameleon"),
    _entry(_WIKIPEDIA, "Squirrel"),
    _entry(_WEBKB, "Cornell"),
    _entry(_WEBKB, "Actor", path="Actor/raw", aliases=("film",)),
    _entry(_FILTERED, "Chameleon"),
    _entry(_FILTERED, "Squirrel"),
    _entry(_TU, "MUTAG"),
    _entry(_TU, "PROTEINS"),
    _entry(_TU, "NCI1", epochs=20),
    _entry(_TU, "NCI109", epochs=20),
    _entry(_TU, "BZR", coordinates=True),
    _entry(_TU, "DHFR", coordinates=True),
    _entry(_TABLE, "Digits", features="unit range"),
    _entry(_TABLE, "Wine"),
    _entry(_TABLE, "Breast cancer"),
    _entry(_TABLE, "Iris"),
    _entry(_TABLE, "Diabetes", task="regression"),
    DatasetEntry("karate", "Karate club", "PyG", "latopo.data.readers:read_karate"),
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
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(list_datasets())}"
        raise LatopoError(f"data: there is no data set {name!r}; {hint}")
    return entry
