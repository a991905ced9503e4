"""A run of any kind, recognised by its files, as the data of a report."""

from collections.abc import Sequence
from pathlib import Path

from latopo.errors import LatopoError
from latopo.report.data import ReportData

__all__ = ["read_run"]


def read_run(folder: Path, fold: int | None = None, baselines: Sequence[Path] | None = None) -> ReportData:
    """The data of a run of ``latopo train``, ``latopo fit`` or ``latopo reproduce``; ``fold`` is for the first alone.

    Raises:
        LatopoError: the folder is none of these, or is damaged.
    """
    if not folder.is_dir():
        raise LatopoError(f"report: {folder} is no folder; give the folder of a run")
    try:
        return _read(folder, fold, baselines)
    except LatopoError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise LatopoError(f"report: a file in {folder} is damaged ({error!r}); run it again") from error


def _read(folder: Path, fold: int | None, baselines: Sequence[Path] | None) -> ReportData:
    if (folder / "settings.json").is_file():
        from latopo.report.train_run import from_train_run

        return from_train_run(folder, fold, baselines)
    if fold is not None or baselines:
        raise LatopoError(f"report: {folder} is no run of latopo train, so it has no folds and takes no baselines")
    if (folder / "run.json").is_file():
        from latopo.report.fit_run import from_fit_run
        from latopo.report.run_files import read_json
        from latopo.table.fit_folder import CHECKED, check_run_file

        for path in filter(Path.is_file, map(folder.joinpath, CHECKED)):
            check_run_file(path, read_json(path))
        return from_fit_run(folder)
    if (folder / "records.jsonl").is_file():
        from latopo.report.results_run import from_results

        return from_results(folder)
    raise LatopoError(
        f"report: {folder} is no run of latopo: it has no settings.json (train), run.json (fit) or records.jsonl "
        "(reproduce)"
    )
