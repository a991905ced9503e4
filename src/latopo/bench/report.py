"""Run benchmarks, print their table, write it down."""

import json
import os
import platform
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import date
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from latopo._environment import environment
from latopo._files import atomic_path, check_folder
from latopo.bench.harness import Measurement
from latopo.errors import LatopoError

__all__ = ["BENCHMARKS", "machine", "rewritten", "run"]

BENCHMARKS = ("search", "fit")
"""Those of the package, which need neither data nor other libraries; the others are in a folder of peers."""

_HEADINGS = ("what", "latopo", "peer", "its figure", "ratio", "bar", "met", "note")
_PACKAGES = ("torch", "numba", "numpy", "networkx", "igraph", "entmax", "faiss-cpu")


def run(
    names: list[str] | None = None, out: Path | None = None, quick: bool = False, peers: Path | None = None
) -> list[Measurement]:
    """Measure the named benchmarks (all by default), print the table, and write it to ``out``; ``quick`` sets no bars.

    ``out/results.json`` keeps the rows of benchmarks that were not run this time; the table between the markers of
    ``out/README.md`` is made from it. ``peers`` is a folder with more benchmarks: modules with a function ``measure``.
    """
    known = _find(peers)
    if out is not None:
        check_folder(out)
    for name in names or []:
        if name not in known:
            more = "" if peers else "; the others are in the repository: --peers benchmarks/peers"
            raise LatopoError(f"bench: expected one of {', '.join(known)}, got {name!r}{more}")
    console = Console()
    if not console.is_terminal:
        console.width = 200  # a file or a pipe has no width to fit into
    rows: list[Measurement] = []
    for name in names or known:
        console.print(f"[bold]{name}[/bold] …")
        found = import_module(known[name]).measure(quick)
        found = [replace(row, bar=None) for row in found] if quick else found
        table = Table(*_HEADINGS)
        for row in found:
            table.add_row(*(escape(cell) for cell in _cells(row.to_dict())))
        console.print(table)
        rows += found
        if out is not None:
            _write(out, name, found, quick)
    return rows


def _find(peers: Path | None) -> dict[str, str]:
    """Name of each benchmark → its module."""
    known = {name: f"latopo.bench.{name}" for name in BENCHMARKS}
    if peers is None:
        return known
    found = [path.stem for path in sorted(peers.glob("[!_]*.py")) if "def measure(" in path.read_text("utf-8")]
    if not found:
        raise LatopoError(f"bench: --peers {peers} has no benchmarks; expected benchmarks/peers of the repository")
    sys.path.insert(0, str(peers.resolve().parent))  # so that a process of its own finds them, too
    return known | {name: f"{peers.resolve().name}.{name}" for name in found}


def machine() -> dict[str, Any]:
    """What the figures were measured on; of the libraries those that are installed."""
    here = environment()
    facts = {"cpu": here["cpu"], "cores": os.cpu_count(), "threads": here["threads"]}
    versions = {"python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {"date": date.today().isoformat(), **facts, **versions}


def _cells(row: dict[str, Any]) -> list[str]:
    ours, theirs = (f"{row[side]:{'.3g' if row[side] < 1000 else ',.0f'}} {row['unit']}" for side in ("ours", "theirs"))
    bar = "" if row["bar"] is None else f"{row['bar']:.3g}"
    verdict = {None: "", True: "yes", False: "**no**"}[row["met"]]
    return [row["name"], ours, row["peer"], theirs, f"{row['ratio']:.3g}", bar, verdict, row["note"]]


def _write(out: Path, name: str, rows: list[Measurement], quick: bool) -> None:
    results, readme = out / "results.json", out / "README.md"
    stored = json.loads(results.read_text()) if results.exists() else {}
    stored[name] = {"quick": quick, "machine": machine(), "rows": [row.to_dict() for row in rows]}
    empty = "# Benchmarks\n\n<!-- table: begin -->\n<!-- table: end -->\n"
    text = rewritten(readme.read_text() if readme.exists() else empty, "table", _markdown(stored))
    out.mkdir(parents=True, exist_ok=True)
    for path, content in ((results, json.dumps(stored, indent=2, ensure_ascii=False) + "\n"), (readme, text)):
        with atomic_path(path) as draft:
            draft.write_text(content)


def rewritten(page: str, mark: str, table: str) -> str:
    """The page with another table between ``<!-- mark: begin -->`` and ``<!-- mark: end -->``."""
    begin, end = (f"<!-- {mark}: {side} -->" for side in ("begin", "end"))
    before, rest = page.split(begin, 1)
    return f"{before}{begin}\n{table}{end}{rest.split(end, 1)[1]}"


def _markdown(stored: dict[str, Any]) -> str:
    parts = []
    for name, found in stored.items():
        parts.append(f"## {name}{' (quick)' if found['quick'] else ''}\n")
        parts.append(", ".join(f"{key} {value}" for key, value in found["machine"].items()) + "\n")
        lines = [f"| {' | '.join(cells)} |" for cells in (_HEADINGS, *map(_cells, found["rows"]))]
        parts += [lines[0], "|" + " --- |" * len(_HEADINGS), *lines[1:], ""]
    return "\n".join(parts) + "\n"
