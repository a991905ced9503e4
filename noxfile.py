"""Tests on every supported Python and on the oldest and newest dependencies: ``nox``, or ``nox -s oldest-3.11``."""

import os
from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13"]
TORCH = os.environ.get("TORCH", "torch==2.13.0")  # whichever build suits the machine, installed first
# The lowest versions that pyproject.toml declares; torch is as old as the wheels at hand allow.
OLDEST = [
    "torch-geometric==2.6.0", "numpy==1.26.0", "scipy==1.11.2", "scikit-learn==1.6.0", "numba==0.60.0",
    "faiss-cpu==1.8.0", "pandas==2.2.0", "safetensors==0.4.0", "joblib==1.4.0", "typer==0.12.0", "rich==13.0.0",
    "jinja2==3.1.0",
]  # fmt: skip
nox.options.default_venv_backend = "venv"
nox.options.reuse_existing_virtualenvs = True


def _install(session: nox.Session, *pins: str) -> None:
    session.install(TORCH)
    session.install("--editable", ".[dev]", *pins)


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """The tests with the newest versions."""
    _install(session)
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs, env={"OMP_NUM_THREADS": "1"})


@nox.session(python=PYTHONS[0])
def oldest(session: nox.Session) -> None:
    """The tests with the lowest declared versions."""
    _install(session, *OLDEST)
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs, env={"OMP_NUM_THREADS": "1"})


@nox.session(python=PYTHONS[0])
def wheel(session: nox.Session) -> None:
    """Build wheel and sdist, install the wheel without the repository, and use it."""
    session.install("build", TORCH)
    session.run("python", "-m", "build", "--outdir", "dist")
    newest_wheel = max(Path("dist").glob("*.whl"), key=lambda path: path.stat().st_mtime).resolve()
    session.install(f"{newest_wheel}[viz]")
    session.cd(session.create_tmp())
    session.run("python", "-c", "import latopo; print(latopo.__version__)")
    session.run("latopo", "--version")
    session.run("latopo", "fit", "iris", "--out", "iris", "--overwrite")
    session.run("latopo", "report", "iris", "--out", "iris.html")
