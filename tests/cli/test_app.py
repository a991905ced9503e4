import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from latopo import __version__
from latopo.bench.report import BENCHMARKS
from latopo.cli.app import app, main
from latopo.errors import LatopoError


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)


def test_as_a_module():
    call = [sys.executable, "-m", "latopo", "--version"]
    printed = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False).stdout
    assert printed == f"latopo {__version__}\n"


def test_a_file_that_cannot_be_used_is_named(monkeypatch, capsys):
    def fail(**_):
        raise OSError(36, "File name too long", "x.csv")

    monkeypatch.setattr("latopo.cli.app.app", fail)
    with pytest.raises(SystemExit):
        main()
    expected = "latopo: x.csv: File name too long; check the name, the rights and the free space\n"
    assert capsys.readouterr().err == expected


def test_help_lists_the_commands():
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    for command in ("datasets", "bench"):
        assert command in result.output


def test_version():
    assert CliRunner().invoke(app, ["--version"]).output == f"latopo {__version__}\n"


def test_help_does_not_wait_for_torch():
    code = (
        "import sys; sys.argv = ['latopo', '--help']\n"
        "from latopo.cli import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    print('loaded:', sorted({'torch', 'numba', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    assert run_python(code).stdout.endswith("loaded: []\n")


def test_bad_input_is_one_line_and_exit_code_2():
    result = run_python("import sys; sys.argv = ['latopo', 'bench', 'speed']\nfrom latopo.cli import main\nmain()")
    assert result.returncode == 2
    assert result.stderr.startswith(f"latopo: bench: expected one of {', '.join(BENCHMARKS)}, got 'speed'; ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "code"), [(LatopoError("no"), 2), (OSError(28, "No space"), 2), (KeyboardInterrupt(), 130)]
)
def test_errors_become_exit_codes(monkeypatch, capsys, error, code):
    def fail(**_):
        raise error

    monkeypatch.setattr("latopo.cli.app.app", fail)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == code
    assert capsys.readouterr().err.startswith("latopo: ")


def test_waiting_threads_do_not_spin_unless_asked_to():
    code = (
        "import os, sys; from latopo.cli import main; sys.argv = ['latopo', '--version']\n"
        "try: main()\n"
        "except SystemExit:\n"
        "    print('numpy' in sys.modules, os.environ['OMP_WAIT_POLICY'], os.environ['OPENBLAS_NUM_THREADS'])"
    )
    chosen = {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ.get("PYTHONPATH", ""), "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=chosen)
    assert done.stdout.splitlines()[-1] == "False PASSIVE 2"
