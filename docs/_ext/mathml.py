"""Mathematics as MathML, which browsers draw by themselves: no script to load, so the site works offline."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _display(self: Any, node: nodes.math_block) -> None:
    latex = node.astext()
    if "\\\\" in latex or "&" in latex:  # lines of an aligned block
        latex = rf"\begin{{aligned}}{latex}\end{{aligned}}"
    self.body.append(f'<div class="math">{convert(latex, display="block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
