"""A run of any kind, recognised by its files, as the data of a report."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from latopo._files import recover
from latopo.complex import CellComplex
from latopo.errors import LatopoError
from latopo.report.fit_run import read_fit_run
from latopo.report.own_complex import describe_complex
from latopo.report.report_data import ReportData
from latopo.report.reproduce_run import read_results
from latopo.report.train_run import read_train_run

__all__ = ["blaming", "read_run"]


def read_run(folder: Path, fold: int | None = None, baselines: Sequence[Path] | None = None) -> ReportData:
    """The data of a run of ``latopo train``, ``latopo fit`` or ``latopo reproduce``, or of a saved complex.

    Args:
        folder: the run, or a file that ``CellComplex.save`` wrote.
        fold: of ``latopo train``, the fold to draw; the first finished one by default.
        baselines: of ``latopo train``, other runs on the same data and folds to compare the score with; by default
            runs of baseline models under the same protocol in the same parent folder.

    Raises:
        LatopoError: the folder is none of these, or is damaged.
    """
    if folder.is_file():
        if fold is not None or baselines:
            raise LatopoError(f"report: {folder} is a complex, so it has no folds and no baselines")
        return describe_complex(CellComplex.load(folder), folder.stem)
    if not folder.is_dir():
        raise LatopoError(f"report: {folder} is not a folder; give the folder of a run, or a saved complex")
    recover(folder)
    with blaming(folder):
        if (folder / "settings.json").is_file():
            return read_train_run(folder, fold, baselines)
        if fold is not None or baselines:
            raise LatopoError(f"report: {folder} is not a run of latopo train, so it has no folds and no baselines")
        if (folder / "run.json").is_file():
            return read_fit_run(folder)
        if (folder / "records.jsonl").is_file():
            return read_results(folder)
    raise LatopoError(
        f"report: {folder} is not a latopo run: it has no settings.json (train), run.json (fit) or records.jsonl "
        "(reproduce)"
    )


@contextmanager
def blaming(folder: Path) -> Iterator[None]:
    """What values that no check foresaw lead to, while a run is read or shown, is one line that names its folder."""
    try:
        yield
    except LatopoError:
        raise
    except (
        ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
    ) as error:  # fmt: skip
        raise LatopoError(f"report: a file in {folder} is damaged ({error!r}); run it again") from error
