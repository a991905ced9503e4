"""Tests on every supported Python and on the oldest and newest dependencies, the wheel, coverage.

``nox`` runs them all, ``nox -s oldest`` one of them, ``nox -s oldest -- tests/nn`` a part of its tests.
"""

import os
from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13"]
# Whichever build suits the machine, installed first. For the small one without a GPU:
# TORCH="torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu"
TORCH = os.environ.get("TORCH", "torch==2.13.0").split()
EXTRAS = ["viz", "table", "interop", "topox", "cluster"]
# What the numbers of a complex depend on.
METHOD = ["entmax", "cycles", "neighbors", "complex", "nn", "semi", "models"]
THREADS = {"OMP_NUM_THREADS": "1"}
nox.options.default_venv_backend = "uv|venv"  # uv where there is one: it installs in seconds
nox.options.reuse_existing_virtualenvs = True


def _lowest() -> list[str]:
    """The lowest versions that pyproject.toml declares, of all packages but torch, which is as old as wheels allow."""
    project = nox.project.load_toml("pyproject.toml")["project"]
    declared = [
        *project["dependencies"],
        *(need for extra in EXTRAS for need in project["optional-dependencies"][extra]),
    ]
    return [need.replace(">=", "==") for need in declared if not need.startswith("torch>=")]


@nox.session(python=PYTHONS)
def newest(session: nox.Session) -> None:
    """The tests with the newest versions."""
    session.install(*TORCH)
    session.install("--editable", ".[dev]")
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs, env=THREADS)


@nox.session(python=PYTHONS[0])
def oldest(session: nox.Session) -> None:
    """The tests with the lowest declared versions of everything but torch."""
    session.install(*TORCH)
    session.install("--editable", ".[all]", "pytest", "pytest-xdist", "hypothesis", "entmax", "geoopt", *_lowest())
    tests = session.posargs or [*(f"tests/{part}" for part in METHOD), "tests/estimators", "tests/table", "tests/cli"]
    session.run("python", "-m", "pytest", "-n", "auto", *tests, env=THREADS)


@nox.session(python=PYTHONS)
def wheel(session: nox.Session) -> None:
    """Build wheel and sdist; install the wheel without the repository, bare and then with all extras, and use it."""
    session.install("build", "twine", *TORCH)
    session.run("python", "-m", "build", "--outdir", "dist")
    built = max(Path("dist").glob("*.whl"), key=lambda path: path.stat().st_mtime).resolve()
    session.run("twine", "check", "--strict", str(built))
    smoke = str(Path("scripts/smoke.py").resolve())
    session.cd(session.create_tmp())
    session.install(str(built))
    session.run("python", smoke)
    session.install(f"{built}[all]")
    session.run("python", smoke, *EXTRAS)


@nox.session(python=PYTHONS[0])
@nox.parametrize("extra", EXTRAS)
def extra(session: nox.Session, extra: str) -> None:
    """One extra alone."""
    session.install(*TORCH)
    session.install(f".[{extra}]")
    session.run("python", "scripts/smoke.py", extra)


@nox.session(python=PYTHONS[0])
def coverage(session: nox.Session) -> None:
    """Lines of the method's packages that its tests run, compiled kernels left out."""
    session.install(*TORCH)
    session.install("--editable", ".[dev]", "pytest-cov")
    session.run("make", "coverage", "VENV=" + session.virtualenv.location, external=True)
