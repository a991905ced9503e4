"""What a training shows while it runs: bars on a terminal, plain lines elsewhere; all on standard error."""

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.console import Console

    from latopo.training.loop import OnEpoch, Row

__all__ = ["TrainingProgress", "facts"]

_SHOWN = (
    ("loss", "loss", "{:.3f}"),
    ("selection_score", "score", "{:.3f}"),
    ("mean_degree", "degree", "{:.1f}"),
    ("num_polygons", "polygons", "{}"),
    ("train_homophily", "homophily", "{:.2f}"),
)


def facts(row: "Row") -> str:
    """The numbers of a history row that a watcher wants; what is None is left out."""
    shown = [(label, form.format(row[name])) for name, label, form in _SHOWN if row.get(name) is not None]
    return " ".join(f"{label} {value}" for label, value in shown)


class TrainingProgress:
    """An outer bar over folds or runs and an inner one over epochs; without a terminal only the lines are printed.

    Args:
        total: how many there are in all.
        done: how many were done before.
        console: where to; standard error by default.
    """

    def __init__(self, total: int, done: int = 0, console: "Console | None" = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.console = Console(stderr=True) if console is None else console
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeRemainingColumn(compact=True),
            TextColumn("{task.fields[facts]}"),
            console=self.console,
            disable=not self.console.is_terminal,
            transient=True,
        )
        self._outer = self._bars.add_task("all", total=total, completed=done, facts="")
        self._inner: Any = None
        self._latest: Row = {}

    def start(self, label: str, epochs: int) -> "OnEpoch":
        """Begin one of them; the answer is to be called with every history row."""
        self._drop_inner()
        self._latest = {}
        self._inner = self._bars.add_task(label, total=epochs, facts="")
        return self._on_epoch

    def _on_epoch(self, row: "Row") -> None:
        # Entries of the last evaluation stay in view until the next.
        self._latest |= {name: value for name, value in row.items() if value is not None}
        self._bars.update(self._inner, advance=1, facts=facts(self._latest))

    def finish(self, line: str) -> None:
        """End one of them with a line that stays."""
        self._drop_inner()
        self._bars.advance(self._outer)
        self._bars.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _drop_inner(self) -> None:
        if self._inner is not None:
            self._bars.remove_task(self._inner)
            self._inner = None

    def __enter__(self) -> Self:
        """Show the bars."""
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Remove them."""
        self._bars.stop()
