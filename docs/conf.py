"""How the documentation site is built: ``make docs``."""

import sys
from pathlib import Path

from sphinx.application import Sphinx

from latopo import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "latopo"
author = "The latopo developers"
copyright = "The latopo developers"
release = version = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "myst_nb",
    "mathml",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]

# The API pages: every public name of every public package, from its docstring.
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
autodoc_typehints = "none"  # the signature has them
autodoc_member_order = "bysource"
autodoc_default_options = {
    "members": True,
    # scikit-learn writes these for every estimator; their text refers to pages of its own.
    "exclude-members": "set_fit_request, set_predict_request, set_score_request, set_transform_request",
}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # an attribute described in a class docstring is also a field of the class
napoleon_custom_sections = ["Shapes"]

# Pages are Markdown; those with code cells are executed, and an error stops the build.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 1800
nb_merge_streams = True
nb_output_stderr = "remove"  # progress bars
suppress_warnings = ["mystnb.unknown_mime_type"]

html_theme = "furo"
html_title = "latopo"
html_static_path = ["_static"]
html_css_files = ["latopo.css"]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Pages that live elsewhere in the repository are included by one of the site's; links to them are for readers of the
# repository too, so they are only turned around here.
_ELSEWHERE = {
    "../results/README.md": "records.md",
    "../benchmarks/README.md": "performance.md",
    "../docs/": "",
    "docs/": "",
    "CONTRIBUTING.md": "contributing.md",
}


def _turn_links(text: str) -> str:
    for link, page in _ELSEWHERE.items():
        text = text.replace(f"]({link}", f"]({page}")
    return text


def setup(app: Sphinx) -> None:
    """Turn links in pages and in what they include."""

    def read(app: Sphinx, name: str, source: list[str]) -> None:
        source[0] = _turn_links(source[0])

    def include(app: Sphinx, path: Path, parent: str, source: list[str]) -> None:
        source[0] = _turn_links(source[0])

    app.connect("source-read", read)
    app.connect("include-read", include)
