"""``latopo models``: the systems of the catalogue."""

import typer


def models() -> None:
    """List the systems that can be trained: the paper's, its baselines, and ours."""
    from latopo.models import GRAPH_SYSTEMS, SYSTEMS

    for system in (SYSTEMS | GRAPH_SYSTEMS).values():
        graph = "needs a graph" if system.needs_graph else "" if system.uses_graph else "ignores a graph"
        graph = "sets of graphs" if system.level == "graph" else graph
        typer.echo(f"{system.name:<15} {system.role:<9} {graph:<16}{system.words}")
    typer.echo("Train one with `latopo train DATASET --model NAME`; change a setting with --set name=value.")
