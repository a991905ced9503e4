"""``latopo reproduce few-labels``: the benchmark of few labels."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from latopo.reproduce.few_labels import FewLabelsUnit

__all__ = ["reproduce_few_labels"]


def reproduce_few_labels(
    tasks: list[str] | None, models: list[str] | None, draws: list[int], *, out: Path, jobs: int,
    data_root: Path | None, dry_run: bool, tables_only: bool,
) -> None:  # fmt: skip
    """Run what is missing, keep each result in ``few-labels/`` as soon as it is there, and write the tables."""
    from latopo.reproduce.few_labels import FewLabelsRecord, plan_few_labels, run_unit, write_few_labels
    from latopo.reproduce.store import Store
    from latopo.reproduce.work import do_units

    store = Store(out / "few-labels", FewLabelsRecord)
    units = plan_few_labels(tasks, models, draws)
    todo = [unit for unit in units if unit.key not in store]
    typer.echo(f"{len(units) - len(todo)} of {len(units)} runs are already in {store.folder}", err=True)
    if dry_run:
        return

    def end(unit: "FewLabelsUnit", outcome: Any) -> None:
        failed = isinstance(outcome, Exception)
        typer.echo(f"{unit}: {outcome if failed else f'{100 * outcome.accuracy:.1f} in {outcome.seconds:.1f} s'}")

    failed: list[FewLabelsUnit] = []
    try:
        if not tables_only:
            failed = do_units(partial(run_unit, data_root=data_root), todo, store, jobs, on_end=end)
    except KeyboardInterrupt:
        typer.echo("latopo: stopped; run the same command again to go on", err=True)
        raise SystemExit(130) from None
    finally:
        typer.echo(write_few_labels(store.records(), out / "tables")[0])
    if failed:
        typer.echo(f"latopo: {len(failed)} of the runs failed, see above", err=True)
        raise typer.Exit(1)
