"""The packages stand in one order: none reaches back, not even by an import inside a function."""

import ast
from pathlib import Path

import latopo

ROOT = Path(latopo.__file__).parent


def package_of(parts):
    """``latopo.nn.dcm`` belongs to ``nn``; a module beside the packages is its own."""
    return parts[1] if len(parts) > 1 else None


def imported(path):
    """Packages of latopo that a file imports anywhere, type checking included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module] if node.module != "latopo" else [f"latopo.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "latopo" and (target := package_of(parts)):
                yield target


def graph():
    found = {}
    for path in ROOT.rglob("*.py"):
        relative = path.relative_to(ROOT)
        own = relative.parts[0].removesuffix(".py")
        if own in ("__init__", "__main__"):
            continue  # the front door opens on everything
        found.setdefault(own, set()).update(set(imported(path)) - {own})
    return found


def test_no_package_reaches_back():
    edges = graph()
    # The public names of the front door live in these packages.
    homes = {
        "CellComplex": "complex", "induced_cycles": "cycles", "segment_entmax": "entmax",
        "entmax_neighbors": "neighbors",
    }  # fmt: skip
    edges = {own: {homes.get(target, target) for target in targets} - {own} for own, targets in edges.items()}
    assert len(edges) > 15
    done = []
    while edges:
        ready = [own for own, targets in edges.items() if not targets & set(edges)]
        assert ready, f"some of these packages import each other: {edges}"
        done += sorted(ready)
        edges = {own: targets for own, targets in edges.items() if own not in ready}
    assert done.index("nn") < done.index("models") < done.index("training") < done.index("estimators")


def test_nothing_private_of_scikit_learn_is_imported():
    private = [
        f"{path.relative_to(ROOT)}: {node.module}.{alias.name}"
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn")
        for alias in node.names
        if any(part.startswith("_") for part in (*node.module.split("."), alias.name))
    ]
    assert private == []
