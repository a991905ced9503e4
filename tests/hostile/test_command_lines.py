"""Class 9 and 2: a bad command line is one line and exit code 2; Ctrl-C ends a good one within two seconds."""

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hostile.commands import run, write_table
from hostile.conftest import LONG

BAD = [
    ["nosuch"], ["fit"], ["fit", "--nosuch"], ["fit", "iris", "--epochs", "x"], ["fit", "iris", "--epochs", "-1"],
    ["fit", "iris", "--epochs", "1" * 400], ["fit", "iris", "--seed", "-1"], ["fit", "iris", "--seed", "nan"],
    ["fit", "iris", "--max-length", "x"], ["fit", "iris", "--max-length", "-3"],
    ["fit", "iris", "--max-length", "9" * 30],
    ["fit", "iris", "--test-fraction", "nan"], ["fit", "iris", "--test-fraction", "inf"],
    ["fit", "iris", "--task", "x"],
    ["fit", "iris", "--target", "\x1b[31m"], ["fit", "iris", "--drop", "a\nb"], ["fit", "iris", "--out", "/proc/x/y"],
    ["fit", "iris", "--out", "/dev/null/x"], ["fit", "a\nb.csv"], ["fit", "\x1b[31m.csv"], ["fit", ""], ["fit", "cora"],
    ["fit", "TABLE", "--target", "kind", "--encoding", "undefined"],
    ["fit", "TABLE", "--target", "kind", "--encoding", "hex"], ["fit", "TABLE", "--target", "kind", "--encoding", ""],
    ["fit", "TABLE", "--target", "kind", "--encoding", "punycode"],
    ["fit", "TABLE", "--target", "kind", "--id", "kind"],
    ["fit", "TABLE", "--target", "kind", "--graph", "TABLE"], ["fit", "TABLE"], ["fit", "TABLE", "--target", ""],
    ["predict"], ["predict", "nowhere", "TABLE"], ["predict", ".", "TABLE"], ["predict", "TABLE", "TABLE"],
    ["report"], ["report", "nowhere"], ["report", "."], ["report", ".", "--fold", "-1"], ["report", ".", "--fold", "x"],
    ["train"], ["train", "nosuch"], ["train", "texas", "--model", "x"], ["train", "texas", "--splits", "x"],
    ["train", "texas", "--splits", "0-99"], ["train", "texas", "--epochs", "0"], ["train", "texas", "--seed", "x"],
    ["train", "texas", "--device", "nosuch"], ["reproduce", "nosuch"], ["reproduce", "table1", "--datasets", "x"],
    ["reproduce", "table1", "--models", "x"], ["datasets", "x"], ["merge"], ["merge", "nowhere", "nowhere2"],
    ["bench", "nosuch"], ["models", "x"], ["--nosuch"], ["fit", "iris", "--quiet=3"],
]  # fmt: skip
BAD += [
    ["fit", "TABLE", "--target", "kind", *more]
    for more in (
        ["--labels", "0"], ["--labels", "100"], ["--labels", "9" * 30], ["--test-fraction", "1"],
        ["--test-fraction", "-0.1"], ["--weight", "colour"], ["--weight", "nosuch"], ["--class-weight", "x"],
        ["--max-anchors", "0"], ["--max-anchors", "-1"], ["--categorical", "nosuch"],
        ["--out", "TABLE"], ["--out", "x" * 300], ["--seed", "4294967296"],
    )
] + [
    ["train", *more]
    for more in (
        ["texas", "--set", "gain=" + "[" * 10**5], ["texas", "--set", "gain=1e999"], ["texas", "--set", "=3"],
        ["texas", "--set", "hidden_channels=" + "9" * 5000], ["texas", "--set", "rounds=1000000000"],
        ["texas", "--set", "batch_size=3"], ["texas", "--splits", "9" * 5000], ["texas", "--splits", "²"],
        ["texas", "--snapshots", "1-999999999999"], ["texas", "--jobs", "0"], ["texas", "--backend", "x"],
        ["texas", "--backend", "dask"], ["texas", "--cluster", "tcp://x"], ["texas", "--device", "meta"],
        ["texas", "--model", ""], ["texas", "--model", "gcn"], ["texas", "--protocol", "x"],
        ["texas", "--out", "TABLE"],
        ["iris", "--graph"], ["mutag", "--no-graph"], ["mutag", "--model", "dcm"], ["mutag", "--set", "batch_size=0"],
    )
] + [
    ["reproduce", *more]
    for more in (
        ["few-labels", "--datasets", "x"], ["few-labels", "--models", "x"], ["few-labels", "--epochs", "3"],
        ["few-labels", "--device", "cpu"], ["few-labels", "--out", "TABLE"], ["few-labels", "--out", "/proc/x"],
        ["few-labels", "--tables-only", "--out", "nowhere"], ["few-labels", "--verify", "1"],
        ["graphs", "--datasets", "texas"], ["graphs", "--values", "1"], ["graphs", "--set", "batch_size=x"],
        ["goals", "--out", "nowhere"], ["goals", "--out", "TABLE"], ["goals", "--jobs", "2", "--out", "."],
        ["table1", "--verify", "0"], ["table1", "--verify", "1", "--shard", "1/2"],
        ["table1", "--verify", "1", "--device", "nosuch"], ["table1", "--verify", "1", "--tables-only", "--out", "."],
        ["table1", "--shard", "3/2"], ["table1", "--shard", "1/" + "9" * 5000], ["table1", "--shard", "²/3"],
        ["table1", "--seeds", "9" * 30], ["table1", "--out", "TABLE"], ["table1", "--protocols", ""],
        ["depth", "--values", "9"], ["depth", "--set", "rounds=1"], ["all", "--set", "gain=2"],
        ["figures", "--shard", "1/2"], ["figures", "--datasets", "mutag"], ["figures", "--epochs", "0"],
    )
] + [
    ["merge", "TABLE"], ["merge", "."], ["merge", "nowhere", "--out", "TABLE"], ["bench", "--peers", "."],
    ["bench", "--peers", "nowhere"], ["bench", "fit", "--out", "TABLE"], ["bench", "fit", "--out", "TABLE/results"],
    ["report", "TABLE"], ["report", "/dev/zero"], ["report", ".", "--out", "TABLE"], ["fit", "x" * 5000],
    ["fit", "/dev/zero", "--target", "x"], ["predict", ".", "/dev/zero"], ["datasets", "--data-root", "TABLE"],
]  # fmt: skip


def test_bad_command_lines(tmp_path, sample, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = write_table(tmp_path)
    failures = []
    for command in sample(BAD, 25):
        arguments = [part.replace("TABLE", str(table)) for part in command]
        outcome = run(*arguments, seconds=60)
        try:
            outcome.check()
        except AssertionError as error:
            failures.append(f"{command}: {error}")
        if outcome.code != 2:
            failures.append(f"{command}: exit code {outcome.code}")
    assert not failures, "\n".join(failures)


HOLES = (
    "import torch, latopo\nn = torch.arange(220)\nt = torch.combinations(n, 3)\n"
    "t = t[torch.randperm(len(t), generator=torch.Generator().manual_seed(0))[:30000]]\n"
    "cx = latopo.CellComplex(220, torch.combinations(n).T, {3: t}, torch.ones(24090), torch.rand(30000))\n"
    "print('go', flush=True)\n"
)
LAYOUT = "import torch, latopo\nfrom latopo.draw import layout\nn = torch.arange(60_000)\n"
SLOW = {
    "search of cycles": "import torch, latopo\nn = 40\ni = torch.arange(n * n).view(n, n)\n"
    "e = torch.stack([torch.cat([i[:, 1:].flatten(), i[1:].flatten()]), "
    "torch.cat([i[:, :-1].flatten(), i[:-1].flatten()])])\nprint('go', flush=True)\n"
    "while True:\n    latopo.induced_cycles(e, max_length=30, max_steps=10**15)",
    "fit": "import sys\nsys.argv = ['latopo', 'fit', 'digits', '--epochs', '100000', '--out', 'run']\n"
    "from latopo.cli import main\nprint('go', flush=True)\nmain()",
    "fit with long cycles": "import sys\nsys.argv = ['latopo', 'fit', 'digits', '--max-length', '30', '--out', 'run']\n"
    "from latopo.cli import main\nprint('go', flush=True)\nmain()",
    "neighbours": "import torch, latopo\nx = torch.randn(300_000, 16)\nprint('go', flush=True)\n"
    "while True:\n    latopo.entmax_neighbors(x, search='exact')",
    "wide neighbours": "import torch, latopo\nx = torch.randn(100_000, 1000)\nprint('go', flush=True)\n"
    "while True:\n    latopo.entmax_neighbors(x, search='exact')",
    "certified neighbours": "import torch, latopo\nx = torch.randn(1_000_000, 24)\nprint('go', flush=True)\n"
    "while True:\n    latopo.entmax_neighbors(x, gain=20.0, similarity='squared', search='certified')",
    "most neighbours": "import torch, latopo\nfrom latopo.neighbors import topk_neighbors\nprint('go', flush=True)\n"
    "while True:\n    topk_neighbors(torch.randn(10_000, 4), k=9_000)",
    "holes": HOLES + "while True:\n    cx.betti_numbers()",
    "holes over the rationals": HOLES + "while True:\n    cx.betti_numbers('rational')",
    "persistence": HOLES + "while True:\n    cx.persistence(2147483647)",
    "layout of a ring": LAYOUT + "cx = latopo.CellComplex(60_000, torch.stack([n, n.roll(1)]))\n"
    "print('go', flush=True)\nwhile True:\n    layout(cx)",
    "layout of a star": LAYOUT + "n = torch.arange(10**6)\ncx = latopo.CellComplex(10**6 + 1, "
    "torch.stack([n, n * 0 + 10**6]))\nprint('go', flush=True)\nwhile True:\n    layout(cx)",
    "layout of isolated nodes": LAYOUT + "cx = latopo.CellComplex(60_000, torch.zeros(2, 0, dtype=torch.int64))\n"
    "print('go', flush=True)\nwhile True:\n    layout(cx)",
}


def seconds_of(process: int) -> float:
    """The processor's time that a process has had: unlike a clock, it does not run while others do."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def seconds_of_children() -> float:
    """The same of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("job", SLOW if LONG else ["search of cycles", "fit with long cycles", "holes"])
def test_ctrl_c_ends_a_command_within_two_seconds_of_work(job, tmp_path, sample):
    for work in sample([0.5, 1.5, 3.0], 1, 1):  # seconds of the processor before the signal
        process = subprocess.Popen(
            [sys.executable, "-c", SLOW[job]], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        earlier = seconds_of_children()
        try:
            assert process.stdout.readline() == "go\n"
            start = seconds_of(process.pid)
            while seconds_of(process.pid) < start + work:
                assert process.poll() is None, process.stderr.read()
                time.sleep(0.02)
            before = seconds_of(process.pid)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=200)
            seconds = seconds_of_children() - earlier - before
        finally:
            process.kill()
        print(f"{job}: {seconds:.2f} s after Ctrl-C")
        assert seconds < (2 if LONG else 10), f"{seconds:.2f} s of the processor after Ctrl-C"
        assert process.returncode in (130, -2, 1), err  # a script of one's own ends with KeyboardInterrupt
        last = err.splitlines()[-1]
        assert last == "KeyboardInterrupt" or last.startswith("latopo: stopped"), err
