"""What a search for neighbours did, in numbers and in one line."""

from dataclasses import dataclass

__all__ = ["SearchReport"]


@dataclass(frozen=True)
class SearchReport:
    """How the rows of one call were found.

    Attributes:
        method: ``"exact"``, ``"certified"`` or ``"approximate"``, as it was chosen.
        statistics: where mean and deviation of the rows come from.
        rows: how many rows there were.
        index: what was searched, ``"tree"``, ``"flat"``, ``"cells"`` or ``""``.
        candidates: how many nearest columns a row was given at first.
        reused: rows that the candidates of an earlier call were enough for.
        searched: rows that were searched.
        compared: rows that needed all their pairs.
        certified: rows that are proven to be exact.
        recall: share of the neighbours that sampled rows should have and do have; None where every row is proven.

    Example:
        >>> print(SearchReport("certified", "closed form", 100, "flat", 32, searched=99, compared=1, certified=100))
        certified: statistics by closed form, 32 candidates a row from a flat index, 99 rows searched, 1 compared with
        all columns; all 100 rows proven exact
    """

    method: str
    statistics: str
    rows: int
    index: str = ""
    candidates: int = 0
    reused: int = 0
    searched: int = 0
    compared: int = 0
    certified: int = 0
    recall: float | None = None

    def __str__(self) -> str:
        if self.method == "exact":
            return f"exact: all pairs of {self.rows:,} rows compared"
        done = [f"{self.reused:,} rows reused"] * bool(self.reused)
        done += [f"{self.searched:,} rows searched"] * bool(self.searched)
        done += [f"{self.compared:,} compared with all columns"] * bool(self.compared)
        if self.index == "tree":
            done = ["a tree of boxes", *done]
        elif self.index:
            place = "cells" if self.index == "cells" else "a flat index"
            done = [f"{self.candidates} candidates a row from {place}", *done]
        proven = f"all {self.rows:,}" if self.certified == self.rows else f"{self.certified:,} of {self.rows:,}"
        text = f"{self.method}: statistics by {self.statistics}, {', '.join(done)}; {proven} rows proven exact"
        return text if self.recall is None else f"{text}, recall {self.recall:.3f}"
