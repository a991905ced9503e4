"""What the tables consist of: rows, columns, the quantity shown, and which runs a row needs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from latopo.data.catalogue import find_dataset, list_datasets
from latopo.errors import LatopoError
from latopo.models import GRAPH_SYSTEMS, SYSTEMS, find_system
from latopo.models.settings import Entmax, NetSettings
from latopo.reproduce.paper import ABLATION_DEFAULTS, paper_numbers
from latopo.reproduce.unit import PROTOCOLS, Protocol, Unit

__all__ = [
    "DATASET_TITLES", "DEVELOPMENT", "EXPERIMENTS", "FOLDS", "Experiment", "ResultRow", "choose", "default_settings",
    "experiment", "needed_folds", "seeds_of",
]  # fmt: skip

Name = TypeVar("Name", str, int, Protocol)

DATASET_TITLES = {name: find_dataset(name).title for name in list_datasets()}
# Not in the paper, but any table can be made of them: recipes are developed there and nowhere else.
DEVELOPMENT = tuple(
    name
    for name, entry in zip(list_datasets(), map(find_dataset, list_datasets()), strict=True)
    if not entry.in_paper and entry.task == "classification" and entry.level == "node"
)
# … and those of them that are like the graphs of table 2.
_LIKE_TABLE2 = ("cornell", "actor", "chameleon-filtered", "squirrel-filtered")
FOLDS = tuple(range(10))
# Folds of 19 to 76 nodes or graphs: one seed per fold would mostly show the noise of the initial weights.
_THREE_SEEDS = ("texas", "wisconsin", "mutag", "bzr", "dhfr")
_LARGE = ("pubmed", "cs", "physics")


def default_settings(model: str, dataset: str, protocol: Protocol) -> dict[str, Any]:
    """Settings of the reproduction on the three large graphs, where the usual ones are costly.

    The weight decay is fixed, and networks that choose by entmax take the deviations of a row from a sample of its
    columns.
    """
    if dataset not in _LARGE:
        return {}
    system = find_system(model)
    settings: dict[str, Any] = {}
    if protocol != "paper" and system.weight_decay is None:
        settings["weight_decay"] = 5e-4
    if isinstance(system.settings, NetSettings) and _chooses_by_entmax(system.settings):
        settings["search"] = "auto"
    return settings


def _chooses_by_entmax(settings: NetSettings) -> bool:
    return settings.latent is not None and isinstance(settings.latent.sampler, Entmax)


def needed_folds(dataset: str) -> tuple[int, ...]:
    """The folds that a cell is complete with: three on the large graphs, all elsewhere."""
    return FOLDS[:3] if dataset in _LARGE else FOLDS


def seeds_of(dataset: str) -> tuple[int, ...]:
    """Seeds per fold: three for Texas, Wisconsin, MUTAG, BZR and DHFR, one elsewhere."""
    return (0, 1, 2) if dataset in _THREE_SEEDS else (0,)


def choose(where: str, what: str, known: Sequence[Name], chosen: Iterable[Name] | None) -> tuple[Name, ...]:
    """The chosen ones in the order of those that are known, all by default; an unknown one is refused."""
    names = list(known if chosen is None else chosen)
    for name in names:
        if name not in known:
            raise LatopoError(f"{where}: no {what} {name!r}; choose from {', '.join(map(str, known))}")
    return tuple(name for name in known if name in names)


@dataclass(frozen=True)
class ResultRow:
    """A row of a table: a model, with or without the input graph, at one value of the table's variable."""

    model: str
    graph: bool
    value: int | None = None

    @property
    def given(self) -> str:
        """``with`` or ``without`` the input graph."""
        return "with" if self.graph else "without"

    @property
    def protocols(self) -> tuple[Protocol, ...]:
        """Those that the row can be run under; the row of the input graph stands under all."""
        return PROTOCOLS if self.model == "input" else find_system(self.model).protocols


@dataclass(frozen=True)
class Experiment:
    """One table: those of the paper, and one of ours on sets of graphs.

    Attributes:
        name: the table's name on the command line.
        title: one line for readers.
        datasets: columns.
        models: rows, before the split into with and without graph.
        quantity: field of a record that is shown, ``test_score`` or ``homophily``.
        variable: setting that the rows vary, None for none.
        values: the variable's values.
        caption: what readers of this table alone have to know.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    quantity: str = "test_score"
    variable: str | None = None
    values: tuple[int, ...] = ()
    caption: str = ""

    @property
    def default(self) -> int | None:
        """The variable's value in runs that do not name it, None for a table without variable."""
        return None if self.variable is None else ABLATION_DEFAULTS[self.variable]

    @property
    def scale(self) -> float:
        """Factor from a record's share to the table's unit: accuracies are in per cent."""
        return 100.0 if self.quantity == "test_score" else 1.0

    def rows(self, models: Sequence[str] | None = None) -> Iterator[ResultRow]:
        """Rows in the paper's order, without graph first; an MLP has no graph, the GCNs need one."""
        for graph in (False, True):
            for model in choose(self.name, "model", self.models, models):
                system = find_system(model)
                if system.uses_graph if graph else not system.needs_graph:
                    yield from (ResultRow(model, graph, value) for value in self.values or (None,))

    def columns(self, datasets: Sequence[str] | None = None) -> tuple[str, ...]:
        """The chosen data sets in the table's order, all of the table by default, then those outside the paper."""
        if datasets is None:
            return self.datasets
        return choose(self.name, "data set", self.known_datasets, datasets)

    @property
    def known_datasets(self) -> tuple[str, ...]:
        """The table's columns, and those that it can have besides."""
        return self.datasets if self.of_graphs else (*self.datasets, *DEVELOPMENT)

    @property
    def of_graphs(self) -> bool:
        """Whether whole graphs are predicted, not nodes."""
        return find_dataset(self.datasets[0]).level == "graph"

    def has(self, row: ResultRow, dataset: str) -> bool:
        """Whether a cell can be run: with a graph if there is one, without one unless only a graph is given.

        Example:
            >>> [EXPERIMENTS["graphs"].has(ResultRow("gin", False), name) for name in ("mutag", "bzr")]
            [False, True]
        """
        entry = find_dataset(dataset)
        return entry.has_graph if row.graph else entry.level == "node" or entry.coordinates

    def suits(self, dataset: str) -> bool:
        """Whether a column appears unasked once there are runs; some belong to table 2 by their kind."""
        return dataset not in _LIKE_TABLE2 or "texas" in self.datasets

    def unit(
        self,
        row: ResultRow,
        dataset: str,
        protocol: Protocol,
        settings: Mapping[str, Any],
        fold: int = 0,
        seed: int = 0,
    ) -> Unit:
        """One of the runs that a cell is made of, with the chosen settings; what is at its default is not named."""
        named = {**default_settings(row.model, dataset, protocol), **settings}
        if named.get("epochs") == find_dataset(dataset).epochs:
            del named["epochs"]
        if self.variable is not None and row.value != self.default:
            named[self.variable] = row.value
        return Unit(row.model, dataset, row.graph, protocol, fold, seed, named)


def _like_the_paper(name: str, title: str, models: Sequence[str] = (), **more: Any) -> Experiment:
    """The paper's columns and systems, and more of ours."""
    printed = paper_numbers(name)
    datasets = tuple(dict.fromkeys(number.dataset for number in printed))
    systems = {number.model for number in printed} | set(models)
    return Experiment(name, title, datasets, tuple(model for model in SYSTEMS if model in systems), **more)


_PER_LENGTH = "dcm-per-length"  # which differs from dcm where cycles of several lengths compete
_NOT_PRINTED = ["dcm-released"] + [
    name for name, system in SYSTEMS.items() if system.role != "paper" and not system.few_labels and name != _PER_LENGTH
]
_FUSED = (
    "The fused systems choose epoch and weight decay branch by branch on the same validation chunk, at width 64, and "
    "stop when it gets no better; mlp-fused and gcn-fused are the baselines with just that care."
)
EXPERIMENTS = {
    item.name: item
    for item in (
        _like_the_paper("table1", "Node classification, homophilic graphs", _NOT_PRINTED, caption=_FUSED),
        _like_the_paper("table2", "Node classification, heterophilic graphs", _NOT_PRINTED, caption=_FUSED),
        _like_the_paper(
            "sampling",
            "Sampling strategies: entmax against Gumbel top-k",
            caption="The top-k systems are trained with the reward of the DGM.",
        ),
        _like_the_paper("depth", "Number of message passing rounds", variable="rounds", values=(0, 1, 2, 3, 4)),
        _like_the_paper(
            "cycle-length",
            "Longest cycle that can become a polygon",
            [_PER_LENGTH],
            variable="max_length",
            values=(3, 4, 5),
            caption="Scores summed over the sides of a cycle (dcm) choose triangles; those of dcm-per-length are "
            "standardised among the cycles of one length first, so with triangles alone it is dcm.",
        ),
        _like_the_paper(
            "homophily",
            "Homophily of the latent graph",
            ("alpha-dgm", "dcm-plus-edges", "dcm-plus"),
            quantity="homophily",
            caption="Homophily is that of the latent graph at the reported epoch: edges between equal labels over "
            "edges.",
        ),
        Experiment(
            "graphs",
            "Graph classification",
            tuple(name for name in list_datasets() if find_dataset(name).level == "graph"),
            tuple(GRAPH_SYSTEMS),
            caption="Without graph: the coordinates of the atoms alone, as point clouds.",
        ),
    )
}


def experiment(name: str) -> Experiment:
    """The table of that name."""
    return EXPERIMENTS[choose("reproduce", "table", tuple(EXPERIMENTS), [name])[0]]
