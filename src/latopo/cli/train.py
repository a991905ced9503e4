"""``latopo train``: one model on one data set, fold by fold, kept in a folder."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from latopo.errors import LatopoError

if TYPE_CHECKING:
    from latopo.training import FoldResult, Run, RunFolder

DataRoot = Annotated[
    Path | None, typer.Option(help="Folder with raw files; $LATOPO_DATA, else your cache folder, by default.")
]
Device = Annotated[
    str, typer.Option(help="auto (a GPU if there is one), cpu or cuda. Numbers repeat exactly on the CPU only.")
]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes, each with one thread; 1 stays in this one.")]
BackendName = Annotated[
    str, typer.Option(help="loky (this machine), dask or ray (a cluster, which has its own number of workers).")
]
Cluster = Annotated[str | None, typer.Option(help="Address of the cluster, such as tcp://10.0.0.1:8786 for dask.")]
Splits = Annotated[str, typer.Option(help="Folds, such as 0-9, 3 or 0,2,5-7.")]


def train(
    dataset: Annotated[str, typer.Argument(help="A name from `latopo datasets`.")],
    model: Annotated[
        str | None, typer.Option(help="A name from `latopo models`; by default dcm, for sets of graphs cells-rings.")
    ] = None,
    graph: Annotated[
        bool | None,
        typer.Option("--graph/--no-graph", help="Give the model the graph; only sets of graphs do so by default."),
    ] = None,
    protocol: Annotated[
        str,
        typer.Option(
            help="honest: a validation chunk chooses; paper: the best test score is reported; patient: honest, for up "
            "to 1,000 epochs."
        ),
    ] = "honest",
    splits: Splits = "0-9",
    epochs: Annotated[int | None, typer.Option(help="Epochs; the paper's for the data set by default.")] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of weights, dropout and sampling.")] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder of the run; named after it by default.")] = None,
    data_root: DataRoot = None,
    device: Device = "auto",
    snapshots: Annotated[
        str, typer.Option(help="Epochs after which the complex is kept, such as 10,50; empty for none.")
    ] = "10,50,100,150,200",
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Another setting of model or training, such as gain=20; may be repeated."),
    ] = None,
    tensorboard: Annotated[bool, typer.Option(help="Also write event files for TensorBoard.")] = False,
    jobs: Jobs = 1,
    backend: BackendName = "loky",
    cluster: Cluster = None,
    verbose: Annotated[bool, typer.Option(help="Also say how the neighbours were found.")] = False,
) -> None:
    """Train a model on the folds of a data set and report its test score.

    The same command goes on where it stopped. The folder holds settings, metrics of every epoch, complexes, weights and
    predictions; `latopo report` shows it.
    """
    from latopo.data import find_dataset
    from latopo.engine import check_backend
    from latopo.training import Run, RunFolder
    from latopo.training.tensorboard import check_tensorboard

    folds = parse_numbers(splits, "--splits", 9)
    settings = parse_settings(setting or []) | ({} if epochs is None else {"epochs": epochs})
    many = find_dataset(dataset).level == "graph"
    chosen = ("cells-rings" if many else "dcm") if model is None else model
    run = Run(dataset, chosen, many if graph is None else graph, protocol, seed, settings)  # type: ignore[arg-type]  # checked there
    kept = [epoch for epoch in parse_numbers(snapshots, "--snapshots", empty=True) if epoch <= run.training().epochs]
    if tensorboard:
        check_tensorboard()
    check_backend(backend, cluster)
    data = _load(run, data_root, device)
    folder = RunFolder(default_folder(run) if out is None else out, run, kept)
    _train(folder, data, folds, tensorboard, verbose, (jobs, backend, cluster))


def parse_numbers(text: str, option: str, highest: int = 999_999, empty: bool = False) -> list[int]:
    """The numbers in a text such as ``0,2,5-7``, ascending, each once."""
    numbers: set[int] = set()
    for part in filter(None, text.replace(" ", "").split(",")):
        first, dash, last = part.partition("-")
        if not is_number(first) or (dash and not is_number(last)):
            raise LatopoError(f"{option} {text}: expected numbers and ranges such as 0-9 or 0,2,5-7, got {part}")
        start, stop = int(first), int(last or first)
        if stop < start or stop > highest:
            raise LatopoError(f"{option} {text}: expected ascending ranges and at most {highest}, got {part}")
        numbers |= set(range(start, stop + 1))
    if not numbers and not empty:
        raise LatopoError(f"{option} is empty, expected numbers and ranges such as 0-2 or 0,2,5-7")
    return sorted(numbers)


def is_number(text: str) -> bool:
    """Whether a text is a whole number of a sensible length: Python refuses to read thousands of digits."""
    return re.fullmatch("[0-9]{1,100}", text) is not None


def parse_settings(pairs: list[str]) -> dict[str, Any]:
    """Settings from texts such as ``gain=20``; values are JSON, or plain words."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise LatopoError(f"--set {pair}: expected name=value, such as gain=20")
        try:
            settings[name] = json.loads(value)
        except (ValueError, RecursionError):
            settings[name] = value
    return settings


def default_folder(run: "Run") -> Path:
    """``runs/texas-dcm-honest``, with what departs from the defaults in the name."""
    parts = [run.entry.name, run.model, *(["graph"] if run.graph else []), run.protocol]
    parts += [f"seed-{run.seed}"] if run.seed else []
    parts += [f"{name}-{value}" for name, value in sorted(run.settings.items())]
    return Path("runs") / "-".join(parts)


def check_data_root(command: str, data_root: Path | None) -> None:
    """Raise if a data root was named that is not a folder."""
    if data_root is not None and not data_root.expanduser().is_dir():
        raise LatopoError(f"{command}: --data-root {data_root} is not a folder")


def _load(run: "Run", data_root: Path | None, device: str) -> Any:
    from latopo._device import find_device
    from latopo.data.graph_loading import load_any
    from latopo.training.protocol import first_trainer

    check_data_root("train", data_root)
    if run.graph and not run.system.uses_graph:
        typer.echo(f"note: {run.model} ignores the graph", err=True)
    data = load_any(run.entry.name, data_root).to(find_device(device))
    first_trainer(data, run, 0)  # settings that no model knows are refused before a folder is made
    return data


def _train(
    folder: "RunFolder", data: Any, folds: list[int], tensorboard: bool, verbose: bool, engine: tuple[Any, ...]
) -> None:
    from latopo.training import train_folds
    from latopo.training.progress import TrainingProgress
    from latopo.training.tensorboard import write_events

    done = len(set(folds) & set(folder.finished()))
    if done:
        typer.echo(f"{done} of {len(folds)} folds are already in {folder.path}", err=True)

    def finish(result: "FoldResult") -> None:
        if tensorboard:
            write_events(folder.path / "tensorboard" / f"fold-{result.fold}", result.training.history)
        report = result.model.search_report() if verbose else None
        progress.finish(_line(result) + ("" if report is None else f"; neighbours {report}"))

    try:
        with TrainingProgress(len(folds), done) as progress:
            epochs = folder.run.planned_epochs
            summary = train_folds(
                folder, data, folds, *engine, on_start=lambda fold: progress.start(f"fold {fold}", epochs),
                on_finished=finish,
            )  # fmt: skip
    except KeyboardInterrupt:
        kept = len(set(folds) & set(folder.finished()))
        text = f"latopo: stopped; {kept} of {len(folds)} folds are in {folder.path}. Run it again to go on"
        typer.echo(text, err=True)
        raise SystemExit(130) from None
    typer.echo(f"{_score(summary)} ({folder.path})")


_FACTS = (
    ("test_score", "test {:.3f}"), ("validation_score", "validation {:.3f}"), ("best_epoch", "epoch {}"),
    ("weight_decay", "weight decay {:g}"), ("mean_degree", "degree {:.1f}"), ("num_polygons", "polygons {}"),
    ("homophily", "homophily {:.2f}"), ("seconds", "{:.1f} s"),
)  # fmt: skip


def _line(result: "FoldResult") -> str:
    found = result.summary()
    found["num_polygons"] = _by_length(result) if found["num_polygons"] else None
    shown = [form.format(found[name]) for name, form in _FACTS if found[name] is not None]
    return f"fold {result.fold}: {', '.join(shown)}"


def _by_length(result: "FoldResult") -> str:
    """How many polygons there are: 7 (4 of length 3, 3 of length 4)."""
    cells = result.training.best_output.complex
    counts = {} if cells is None else {length: rows.size(0) for length, rows in cells.polygons.items()}
    return f"{sum(counts.values())} ({', '.join(f'{count} of length {length}' for length, count in counts.items())})"


def _score(summary: dict[str, Any]) -> str:
    score, percent = summary["score"], 100 if summary["metric"] == "accuracy" else 1
    spread = "" if score["std"] is None else f" ± {percent * score['std']:.2f}"
    folds = "1 fold" if score["num_folds"] == 1 else f"{score['num_folds']} folds"
    name = "accuracy" if summary["metric"] == "accuracy" else "R²"
    return f"test {name} {percent * score['mean']:.2f}{spread} over {folds}"
