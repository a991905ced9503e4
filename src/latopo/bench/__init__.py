"""Benchmarks: each bar is measured beside its peer in the same run."""

from latopo.bench.report import run

__all__ = ["run"]
