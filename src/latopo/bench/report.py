"""Run benchmarks, print their table, write it down."""

import json
import os
import platform
from dataclasses import replace
from datetime import date
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from latopo._files import atomic_path
from latopo.bench.harness import Measurement
from latopo.errors import LatopoError

__all__ = ["BENCHMARKS", "run"]

BENCHMARKS = ("cycles", "entmax", "neighbors", "search", "million", "step", "batches")
_BEGIN, _END = "<!-- table: begin -->", "<!-- table: end -->"
_HEADINGS = ("what", "latopo", "peer", "its figure", "ratio", "bar", "met", "note")


def run(names: list[str] | None = None, out: Path | None = None, quick: bool = False) -> list[Measurement]:
    """Measure the named benchmarks (all by default), print the table, and write it to ``out``; ``quick`` sets no bars.

    ``out/results.json`` keeps the rows of benchmarks that were not run this time; the table between the markers of
    ``out/README.md`` is made from it.
    """
    for name in names or []:
        if name not in BENCHMARKS:
            raise LatopoError(f"bench: expected one of {', '.join(BENCHMARKS)}, got {name!r}")
    console = Console()
    if not console.is_terminal:
        console.width = 200  # a file or a pipe has no width to fit into
    rows: list[Measurement] = []
    for name in names or BENCHMARKS:
        console.print(f"[bold]{name}[/bold] …")
        found = import_module(f"latopo.bench.{name}").measure(quick)
        found = [replace(row, bar=None) for row in found] if quick else found
        table = Table(*_HEADINGS)
        for row in found:
            table.add_row(*(escape(cell) for cell in _cells(row.to_dict())))
        console.print(table)
        rows += found
        if out is not None:
            _write(out, name, found, quick)
    return rows


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    import torch

    model = platform.processor() or platform.machine()
    if (information := Path("/proc/cpuinfo")).exists():
        names = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    return {
        "date": date.today().isoformat(),
        "cpu": model,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{
            package: version(package)
            for package in ("torch", "numba", "numpy", "networkx", "igraph", "entmax", "faiss-cpu")
        },
    }


def _cells(row: dict[str, Any]) -> list[str]:
    ours, theirs = (_figure(row[side], row["unit"]) for side in ("ours", "theirs"))
    bar = "" if row["bar"] is None else f"{row['bar']:.3g}"
    verdict = {None: "", True: "yes", False: "**no**"}[row["met"]]
    return [row["name"], ours, row["peer"], theirs, f"{row['ratio']:.3g}", bar, verdict, row["note"]]


def _figure(value: float, unit: str) -> str:
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"


def _write(out: Path, name: str, rows: list[Measurement], quick: bool) -> None:
    out.mkdir(parents=True, exist_ok=True)
    results = out / "results.json"
    stored = json.loads(results.read_text()) if results.exists() else {}
    stored[name] = {"quick": quick, "machine": machine(), "rows": [row.to_dict() for row in rows]}
    with atomic_path(results) as draft:
        draft.write_text(json.dumps(stored, indent=2, ensure_ascii=False) + "\n")
    readme = out / "README.md"
    text = readme.read_text() if readme.exists() else f"# Benchmarks\n\n{_BEGIN}\n{_END}\n"
    before, rest = text.split(_BEGIN, 1)
    after = rest.split(_END, 1)[1]
    with atomic_path(readme) as draft:
        draft.write_text(f"{before}{_BEGIN}\n{_markdown(stored)}{_END}{after}")


def _markdown(stored: dict[str, Any]) -> str:
    parts = []
    for name in [name for name in BENCHMARKS if name in stored]:
        facts = stored[name]["machine"]
        parts.append(f"### {name}{' (quick)' if stored[name]['quick'] else ''}\n")
        parts.append(", ".join(f"{key} {value}" for key, value in facts.items()) + "\n")
        parts.append("| " + " | ".join(_HEADINGS) + " |")
        parts.append("|" + " --- |" * len(_HEADINGS))
        parts += ["| " + " | ".join(_cells(row)) + " |" for row in stored[name]["rows"]]
        parts.append("")
    return "\n".join(parts) + "\n"
