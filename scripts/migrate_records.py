"""Convert a store of latopo 0.1 (runs known by name, departures and version) to one whose runs are known by a hash.

    git show 0ebbb0d:results/records.jsonl | python scripts/migrate_records.py - results
    python scripts/migrate_records.py old/records.jsonl results

The hash is that of what the stored settings come to *now*; this is right as long as the code gives the numbers that it
gave then. What is not known of the machine stays unknown. Nothing is written unless every run is in the new store with
its score.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from latopo.reproduce import Record, Store, Unit
from latopo.reproduce.unit import Hashed

UNIT = ("model", "dataset", "graph", "protocol", "fold", "seed")
ENVIRONMENT = ("cpu", "vector", "threads", "device", "torch", "numba", "latopo")


def convert(old: dict[str, Any]) -> Record:
    """A record of the old form as one of the new."""
    values = {name: value for name, value in old.items() if name not in (*UNIT, "settings", "version", "extra")}
    extra = old["extra"]
    known = {"threads": extra["threads"], "device": extra.get("device"), "latopo": old["version"]}
    return Record(
        Unit(**{name: old[name] for name in UNIT}, settings=rename(old["model"], old["settings"])),
        **values,
        search=tuple((float(decay), score) for decay, score in extra["search"].items()),
        environment=Hashed({name: known.get(name) for name in ENVIRONMENT}),
    )


def rename(model: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The present names of settings; none has changed so far."""
    return settings


def migrate(lines: Iterable[str], folder: Path) -> int:
    """Write the store of a folder anew from old lines; returns the number of runs."""
    old = [json.loads(line) for line in lines if line.strip()]
    with TemporaryDirectory(dir=folder) as draft:
        store = Store(draft)
        with store.writing():
            for content in old:
                store.append(convert(content))
        check(old, Store(draft))
        os.replace(store.path, folder / store.path.name)
    return len(old)


def check(old: list[dict[str, Any]], store: Store) -> None:
    """Raise unless the store has every old run, each once, with its score."""
    new = {identity(vars(record.unit)): record.test_score for record in store.records()}
    wanted = {
        identity(content | {"settings": rename(content["model"], content["settings"])}): content["test_score"]
        for content in old
    }
    if not len(old) == len(wanted) == len(store) or new != wanted:
        lost = [name for name, score in wanted.items() if new.get(name) != score]
        raise SystemExit(f"{len(old)} old runs, {len(store)} new ones; lost or changed: {lost[:3]}")


def identity(content: dict[str, Any]) -> str:
    """Model, data set, graph, protocol, fold, seed and settings, as text."""
    return json.dumps([content[name] for name in (*UNIT, "settings")], sort_keys=True)


def main() -> None:
    """Read the options and convert."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="records.jsonl of latopo 0.1, or - for standard input")
    parser.add_argument("folder", type=Path, help="folder of the new store; its records.jsonl is replaced")
    chosen = parser.parse_args()
    lines = sys.stdin if chosen.old == "-" else Path(chosen.old).read_text(encoding="utf-8").splitlines()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    print(f"{migrate(lines, chosen.folder)} runs")


if __name__ == "__main__":
    main()
