"""Look for dead links in the built site: ``python scripts/check_links.py docs/_build/html``.

Every link and image of every page must lead to a file of the site, and every ``#anchor`` to a place on that page. Links
to other sites are not followed, so it works offline.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places of a page and the addresses that it refers to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser for each tag."""
        for name, value in attrs:
            if value and (name == "id" or (tag == "a" and name == "name")):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.links.add(value)


def dead_links(site: Path) -> list[str]:
    """Each dead link as ``page: link``."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    dead = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            missing = anchor and target in pages and anchor not in pages[target].anchors
            if not target.is_file() or missing:
                dead.append(f"{path.relative_to(site.resolve())}: {link}")
    return dead


if __name__ == "__main__":
    found = dead_links(Path(sys.argv[1]))
    print("\n".join(found) or "no dead links")
    sys.exit(bool(found))
