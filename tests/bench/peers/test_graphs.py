from peers.graphs import measure


def test_every_system_is_measured_beside_the_peer():
    rows = measure(quick=True)
    models = ["gin", "cells-rings", "cells-chosen", "cells-latent"]
    assert [row.name for row in rows] == [f"an epoch of {model} on mutag" for model in models]
    assert all(row.ours > 0 and row.theirs > 0 for row in rows)
