"""The link check of the site finds what is dead, and only that."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("check_links", ROOT / "scripts" / "check_links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def site(tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "a picture.png").write_bytes(b"")
    (tmp_path / "part" / "other.html").write_text(
        '<h1 id="top">Other</h1><a name="old"></a><a href="../index.html">up</a>'
    )
    return tmp_path


@pytest.mark.parametrize(
    "link",
    [
        '<a href="part/other.html">',
        '<a href="part/other.html#top">',
        '<a href="part/other.html#old">',
        '<a href="#here">',
        '<a href="#">',
        '<img src="a%20picture.png?v=1">',
        '<a href="https://example.org/nothing#there">',
        '<a href="mailto:someone@example.org">',
    ],
)
def test_what_is_there(script, site, link):
    (site / "index.html").write_text(f'<h1 id="here">Home</h1>{link}')
    assert script.dead_links(site) == []


@pytest.mark.parametrize("link", ["part/gone.html", "part/other.html#gone", "#gone", "part", "picture.png"])
def test_what_is_not(script, site, link):
    (site / "index.html").write_text(f'<a href="part/other.html">fine</a><a href="{link}">dead</a>')
    assert script.dead_links(site) == [f"index.html: {link}"]
