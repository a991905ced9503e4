"""What the paper's tables consist of: rows, columns, the quantity shown, and which runs a row needs."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from latopo.data.catalogue import find_dataset, list_datasets
from latopo.errors import LatopoError
from latopo.reproduce.record import PROTOCOLS, Protocol, Settings

__all__ = [
    "ABLATION_DEFAULTS",
    "BASELINES",
    "DATASET_TITLES",
    "DEVELOPMENT",
    "EXPERIMENTS",
    "FOLDS",
    "OURS",
    "Experiment",
    "Row",
    "SettingsFor",
    "check_protocols",
    "default_settings",
    "experiment",
    "no_settings",
    "seeds_of",
]

HOMOPHILIC = ("cora", "citeseer", "pubmed", "physics", "cs")
HETEROPHILIC = ("texas", "wisconsin", "squirrel", "chameleon")
DATASET_TITLES = {name: find_dataset(name).title for name in list_datasets()}
# Not in the paper, but any table can be made of them: recipes are developed there and nowhere else.
DEVELOPMENT = tuple(
    name for name in list_datasets() if not find_dataset(name).in_paper and find_dataset(name).task == "classification"
)
# … and those of them that are like the graphs of table 2.
_LIKE_TABLE2 = ("cornell", "actor", "chameleon-filtered", "squirrel-filtered")
FOLDS = tuple(range(10))
# Folds of 19 and 26 nodes: one seed per fold would mostly show the noise of the initial weights.
_THREE_SEEDS = ("texas", "wisconsin")
_LARGE = ("pubmed", "cs", "physics")

# Our models that the tables test against the baselines, the second with a graph only.
OURS = ("dcm-plus", "dcm-judged")
BASELINES = ("mlp", "gcn", "dgm-e", "dgm-m")
# Our recipe with edges, with features of the edges, and with polygons; gcn-plus is what is left with none of them.
# The judged ones weigh a given graph before they rely on it, with the complex and without.
_PLUS = ("alpha-dgm", "dcm-plus-edges", "dcm-plus")
# What a run has that does not name the setting; tables 1 and 2 are made with these.
ABLATION_DEFAULTS = {"rounds": 1, "max_length": 4}
_MAIN_MODELS = (*BASELINES, "dcm", "dcm-all", "gcn-plus", *_PLUS, "gcn-judged", "dcm-judged")

SettingsFor = Callable[[str, str, bool, Protocol], Settings]
"""Settings of a run from (model, data set, graph, protocol); must be plain JSON."""


def no_settings(model: str, dataset: str, graph: bool, protocol: Protocol) -> Settings:
    """The default of every :data:`SettingsFor` argument: nothing beyond the model's own defaults."""
    return {}


def default_settings(model: str, dataset: str, graph: bool, protocol: Protocol) -> Settings:
    """Settings of the reproduction: none but a fixed weight decay on the three large graphs, where a search is costly.

    Example:
        >>> default_settings("mlp", "physics", False, "honest"), default_settings("mlp", "cora", False, "honest")
        ({'weight_decay': 0.0005}, {})
    """
    return {"weight_decay": 5e-4} if protocol == "honest" and dataset in _LARGE else {}


def seeds_of(dataset: str) -> tuple[int, ...]:
    """Seeds per fold: three for Texas and Wisconsin, one elsewhere.

    Example:
        >>> seeds_of("texas"), seeds_of("cora")
        ((0, 1, 2), (0,))
    """
    return (0, 1, 2) if dataset in _THREE_SEEDS else (0,)


def check_protocols(caller: str, protocols: Sequence[Protocol]) -> None:
    """Raise with the known names if a protocol is unknown."""
    for protocol in protocols:
        if protocol not in PROTOCOLS:
            raise LatopoError(f"{caller}: no protocol {protocol!r}; expected one of {', '.join(PROTOCOLS)}")


@dataclass(frozen=True)
class Row:
    """A row of a table: a model, with or without the input graph, at one value of the table's variable."""

    model: str
    graph: bool
    value: int | None = None


@dataclass(frozen=True)
class Experiment:
    """One table of the paper.

    Attributes:
        name: the table's name on the command line.
        title: one line for readers.
        datasets: columns.
        models: rows, before the split into with and without graph.
        quantity: field of a record that is shown, ``test_score`` or ``homophily``.
        variable: setting that the rows vary, None for none.
        values: the variable's values.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    quantity: str = "test_score"
    variable: str | None = None
    values: tuple[int, ...] = ()

    @property
    def default(self) -> int | None:
        """The variable's value in runs that do not name it, None for a table without variable."""
        return None if self.variable is None else ABLATION_DEFAULTS[self.variable]

    @property
    def scale(self) -> float:
        """Factor from a record's share to the table's unit: accuracies are in per cent."""
        return 100.0 if self.quantity == "test_score" else 1.0

    def rows(self, models: Sequence[str] | None = None) -> Iterator[Row]:
        """Rows in the paper's order, without graph first; an MLP has no graph, the GCNs need one.

        Example:
            >>> [row.model for row in EXPERIMENTS["table1"].rows(["gcn", "dcm"])]
            ['dcm', 'gcn', 'dcm']
        """
        from latopo.models import MODELS, needs_graph

        chosen = self._checked("model", self.models, models)
        for graph in (False, True):
            for model in chosen:
                if MODELS[model][0].uses_graph if graph else not needs_graph(model):
                    yield from (Row(model, graph, value) for value in self.values or (None,))

    def columns(self, datasets: Sequence[str] | None = None) -> tuple[str, ...]:
        """The chosen data sets in the table's order, all of the table by default, then those outside the paper.

        Example:
            >>> EXPERIMENTS["table1"].columns(["cornell", "cs", "cora"])
            ('cora', 'cs', 'cornell')
        """
        if datasets is None:
            return self.datasets
        return self._checked("data set", (*self.datasets, *DEVELOPMENT), datasets)

    def suits(self, dataset: str) -> bool:
        """Whether a column appears without being asked for once there are runs; some belong to table 2 by their kind.

        Example:
            >>> EXPERIMENTS["table2"].suits("cornell"), EXPERIMENTS["table1"].suits("cornell")
            (True, False)
        """
        return dataset not in _LIKE_TABLE2 or HETEROPHILIC[0] in self.datasets

    def settings(self, base: Settings, row: Row) -> Settings:
        """Settings of a run of this row: the variable is named only where it departs from its default."""
        if self.variable is None or row.value == self.default:
            return base
        return {**base, self.variable: row.value}

    def _checked(self, what: str, known: tuple[str, ...], chosen: Sequence[str] | None) -> tuple[str, ...]:
        for name in chosen or ():
            if name not in known:
                raise LatopoError(f"{self.name}: no {what} {name!r} in this table; expected some of {', '.join(known)}")
        return known if chosen is None else tuple(name for name in known if name in chosen)


EXPERIMENTS = {
    item.name: item
    for item in (
        Experiment("table1", "Node classification, homophilic graphs", HOMOPHILIC, _MAIN_MODELS),
        Experiment("table2", "Node classification, heterophilic graphs", HETEROPHILIC, _MAIN_MODELS),
        Experiment(
            "sampling",
            "Sampling strategies: entmax against Gumbel top-k",
            HOMOPHILIC + HETEROPHILIC,
            ("dcm", "dcm-all", "topk-dcm", "topk-dcm-all"),
        ),
        Experiment(
            "depth",
            "Number of message passing rounds",
            HOMOPHILIC + HETEROPHILIC,
            ("dcm",),
            variable="rounds",
            values=(0, 1, 2, 3, 4),
        ),
        Experiment(
            "cycle-length",
            "Longest cycle that can become a polygon",
            HOMOPHILIC + HETEROPHILIC,
            ("dcm",),
            variable="max_length",
            values=(3, 4, 5),
        ),
        Experiment(
            "homophily",
            "Homophily of the latent graph",
            HOMOPHILIC + HETEROPHILIC,
            ("dcm", *_PLUS),
            quantity="homophily",
        ),
    )
}


def experiment(name: str) -> Experiment:
    """The table of that name.

    Example:
        >>> experiment("depth").values
        (0, 1, 2, 3, 4)
    """
    if name not in EXPERIMENTS:
        raise LatopoError(f"reproduce: no table {name!r}; expected one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
