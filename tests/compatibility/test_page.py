"""Each row of docs/compatibility.md has its test, and each test file its row."""

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "compatibility.md").read_text()


def test_every_row_names_a_test_that_exists():
    rows = [line for line in PAGE.split("\n## ")[0].splitlines() if line.startswith("| ") and "---" not in line][1:]
    assert len(rows) > 15
    for row in rows:
        elsewhere, file, function = re.search(r"`(nn/)?(test_\w+\.py)::(test_\w+)` \|$", row).groups()
        assert f"def {function}(" in ((HERE.parent / elsewhere if elsewhere else HERE) / file).read_text(), row


def test_every_file_is_on_the_page():
    files = {path.name for path in HERE.glob("test_*.py")} - {"test_page.py"}
    assert {name for name in files if name not in PAGE} == set()
