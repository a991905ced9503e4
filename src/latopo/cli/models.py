"""``latopo models``: the systems of the catalogue."""

import typer


def models() -> None:
    """List the systems that can be trained: the paper's, its baselines, and ours."""
    from rich.console import Console
    from rich.table import Table

    from latopo.models import SYSTEMS

    table = Table("model", "role", "graph", "what it is", box=None, pad_edge=False)
    for system in SYSTEMS.values():
        graph = "needed" if system.needs_graph else "used" if system.uses_graph else "ignored"
        table.add_row(system.name, system.role, graph, system.words)
    Console(soft_wrap=True).print(table)
    typer.echo("Train one with `latopo train DATASET --model NAME`; change a setting with --set name=value.")
