"""Use an installed latopo once, away from the repository: ``python smoke.py [EXTRA ...]``.

The commands, a table, a layer in a PyTorch Geometric model; what the named extras add; and for every other extra that
is not installed, that its absence is told in one line with the name of the extra. It needs nothing but latopo itself.
"""

import csv
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def table(path: Path, rows: int = 120) -> Path:
    """A CSV with numbers, a category and gaps: three petals whose colour says which."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["width", "length", "where", "species"])
        for row in range(rows):
            kind = row % 3
            width, length = 2 * kind + math.sin(row), 3 - kind + math.cos(1.7 * row)
            writer.writerow([f"{width:.3f}", "" if row % 17 == 0 else f"{length:.3f}", "NS"[row % 2], "abc"[kind]])
    return path


def square() -> Any:
    """A complex of one square."""
    from latopo import CellComplex

    return CellComplex(4, [[0, 1, 2, 3], [1, 2, 3, 0]], [[0, 1, 2, 3]])


def use_matplotlib(folder: Path) -> None:
    """Draw a complex."""
    from latopo.draw import draw

    draw(square()).save(folder / "square.png")
    assert (folder / "square.png").read_bytes().startswith(b"\x89PNG")


def use_pyarrow(folder: Path) -> None:
    """Read a Parquet file."""
    import pandas as pd

    from latopo.table.reading import read_frame

    path = folder / "table.parquet"
    if find_spec("pyarrow"):
        pd.read_csv(table(folder / "for-parquet.csv")).to_parquet(path)
    else:
        path.write_bytes(b"PAR1")
    assert len(read_frame(path)) == 120


def use_networkx(folder: Path) -> None:
    """Go to networkx and back."""
    assert type(square()).from_networkx(square().to_networkx()) == square()


def use_gudhi(folder: Path) -> None:
    """A triangle as a simplex tree (a square is not a simplex)."""
    from latopo import CellComplex

    assert CellComplex(3, [[0, 0, 1], [1, 2, 2]], [[0, 1, 2]]).to_gudhi().num_simplices() == 7


def use_toponetx(folder: Path) -> None:
    """Go to TopoNetX and back."""
    assert type(square()).from_toponetx(square().to_toponetx()) == square()


def use_dask(folder: Path) -> None:
    """Two jobs on a cluster of one worker."""
    from latopo.engine import check_backend, run_jobs

    check_backend("dask", "tcp://127.0.0.1:8786")
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        assert sorted(run_jobs(abs, [-1, 2], backend="dask", cluster=cluster.scheduler_address)) == [(-1, 1), (2, 2)]


# What each package of each extra is there for; the key is the module whose absence is to be told.
EXTRAS: dict[str, dict[str, Callable[[Path], None]]] = {
    "viz": {"matplotlib": use_matplotlib},
    "table": {"pyarrow": use_pyarrow},
    "interop": {"networkx": use_networkx, "gudhi": use_gudhi},
    "topox": {"toponetx": use_toponetx},
    "cluster": {"distributed": use_dask},
}


def told(use: Callable[[Path], None], folder: Path) -> str:
    """The message of the error that a use without its package ends in."""
    from latopo.errors import LatopoError

    try:
        use(folder)
    except LatopoError as error:
        return str(error)
    raise AssertionError(f"{use.__name__}: nothing was said about the missing package")


def run(*command: str, expect: int = 0) -> str:
    """Run a command; its output."""
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "NO_COLOR": "1"})
    assert done.returncode == expect, f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def seconds(*command: str, times: int = 5) -> str:
    """The fastest of some runs, and its CPU time, which other work on the machine does not change as much."""
    figures = []
    for _ in range(times):
        wall, before = time.perf_counter(), os.times()
        run(*command)
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        figures.append((time.perf_counter() - wall, cpu))
    return "{:.2f} s, CPU time {:.2f} s".format(*min(figures))


def check_commands(folder: Path) -> None:
    """The commands, from a CSV to predictions, and how fast help is there."""
    latopo, python = str(Path(sys.executable).parent / "latopo"), sys.executable
    assert run(latopo, "--version") == run(python, "-m", "latopo", "--version")
    print("import latopo:", seconds(python, "-c", "import latopo"), "(goal: under 1)")
    print("latopo --help:", seconds(latopo, "--help"), "(goal: under 0.5)")
    print(
        "from latopo import CellComplex, with torch:", seconds(python, "-c", "from latopo import CellComplex", times=2)
    )
    print("import torch alone:", seconds(python, "-c", "import torch", times=2))
    data, out = str(table(folder / "petals.csv")), str(folder / "petals")
    print(run(latopo, "fit", data, "--target", "species", "--out", out))
    run(latopo, "predict", out, data, "--out", str(folder / "predictions.csv"))
    assert len((folder / "predictions.csv").read_text(encoding="utf-8").splitlines()) == 121
    run(latopo, "report", out, "--out", str(folder / "petals.html"))
    assert "Predicting species" in (folder / "petals.html").read_text(encoding="utf-8")


def check_python() -> None:
    """The estimator and the layer."""
    import torch
    from sklearn.datasets import load_iris
    from torch_geometric.nn import GCNConv

    from latopo.estimators import DCMClassifier
    from latopo.nn import DCM

    x, y = load_iris(return_X_y=True)
    assert DCMClassifier(random_state=0, max_epochs=50).fit(x[::2], y[::2]).score(x[1::2], y[1::2]) > 0.9
    features = torch.randn(100, 8, generator=torch.Generator().manual_seed(0))
    hidden, cells = DCM(8, 16)(features)
    GCNConv(32, 3)(hidden, *cells.to_edge_index()).sum().backward()
    print(cells)


def main(*wanted: str) -> None:
    """All checks; ``wanted`` are the extras that must be there."""
    unknown = set(wanted) - set(EXTRAS)
    assert not unknown, f"no such extra: {unknown}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_commands(folder)
        check_python()
        for extra, uses in EXTRAS.items():
            for module, use in uses.items():
                if find_spec(module) or extra in wanted:
                    use(folder)
                    print(f"{module} works")
                else:
                    message = told(use, folder)
                    assert f"latopo[{extra}]" in message, message
                    print(f"{module} is missing, and said so: {message}")


if __name__ == "__main__":
    main(*sys.argv[1:])
