"""Run benchmarks, print their table, write it down."""

import json
import os
import platform
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

BENCHMARKS = ("cycles", "entmax", "neighbors", "step")
_BEGIN, _END = "<!-- table: begin -->", "<!-- table: end -->"


def run(names: list[str] | None = None, out: Path | None = None, quick: bool = False) -> list[Measurement]:
    """Measure the named benchmarks (all by default), print the table, and write it to ``out``.

    ``out/results.json`` keeps the rows of benchmarks that were not run this time; the table between the markers of
    ``out/README.md`` is made from it.
    """
    chosen = list(BENCHMARKS) if names is None else names
    for name in chosen:
        if name not in BENCHMARKS:
            raise LatopoError(f"bench: expected one of {', '.join(BENCHMARKS)}, got {name!r}")
    console = Console()
    if not console.is_terminal:
        console.width = 200  # a file or a pipe has no width to fit into
    rows: list[Measurement] = []
    for name in chosen:
        console.print(f"[bold]{name}[/bold] …")
        found = import_module(f"latopo.bench.{name}").measure(quick)
        console.print(_table(found))
        rows += found
        if out is not None:
            _write(out, name, found, quick)
    return rows


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    import torch

    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.exists():
        lines = [line for line in information.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    packages = ("torch", "numba", "numpy", "networkx", "igraph", "entmax")
    return {
        "date": date.today().isoformat(),
        "cpu": model,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def _cells(row: dict[str, Any]) -> list[str]:
    theirs = "" if row["theirs"] is None else _figure(row["theirs"], row["unit"])
    verdict = {None: "", True: "yes", False: "**no**"}[row["met"]]
    bar = "" if row["bar"] is None else f"{row['bar']:.3g}"
    return [row["name"], _figure(row["ours"], row["unit"]), row["peer"], theirs, f"{row['ratio']:.3g}", bar, verdict,
            row["note"]]  # fmt: skip


_HEADINGS = ("what", "latopo", "peer", "its figure", "ratio", "bar", "met", "note")


def _figure(value: float, unit: str) -> str:
    return f"{value:.3g} {unit}" if value < 1000 else f"{value:,.0f} {unit}"


def _table(rows: list[Measurement]) -> Table:
    table = Table(*_HEADINGS)
    for row in rows:
        table.add_row(*(escape(cell) for cell in _cells(row.to_dict())))
    return table


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
