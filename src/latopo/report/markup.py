"""HTML in which every text is escaped unless it was made here."""

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

__all__ = ["Markup", "join", "tag"]

_VOID = frozenset({"br", "hr", "input", "meta"})


class Markup(str):
    """Finished HTML; every other string is text and will be escaped."""

    __slots__ = ()


Children: TypeAlias = "str | Iterable[Children]"
"""A text, finished HTML, or any nesting of these."""


def tag(name: str, *children: Children, **attributes: str | float | bool) -> Markup:
    """One element. Attributes: ``class_`` for class, underscores for hyphens, True for a bare one, False for none.

    Example:
        >>> tag("td", "a < b", class_="name", data_node=3)
        '<td class="name" data-node="3">a &lt; b</td>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items() if value is not False)
    if name in _VOID:
        return Markup(f"<{name}{written}>")
    return Markup(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Iterable[Children]) -> Markup:
    """Elements and texts one after another, nested lists flattened.

    Example:
        >>> join(["1 < 2", [tag("br"), "&"]])
        '1 &lt; 2<br>&amp;'
    """
    return Markup("".join(_child(child) for child in children))


def _child(child: Children) -> str:
    if isinstance(child, Markup):
        return str(child)
    return escape(child) if isinstance(child, str) else join(child)


def _attribute(key: str, value: str | float | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
