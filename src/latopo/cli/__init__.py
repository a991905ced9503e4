"""The command line: one file per command, heavy imports inside the commands so that ``latopo --help`` is instant."""

from latopo.cli.app import main

__all__ = ["main"]
