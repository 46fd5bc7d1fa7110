"""Settings of Sphinx for the documentation site; build.py runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ackclock
from ackclock.columns import tables

sys.path.insert(0, str(Path(__file__).parent))

project = "Ackclock"
author = "The Ackclock developers"
version = release = ackclock.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "extension"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
language = "en"
nitpicky = False
highlight_language = "none"
default_role = "py:obj"
# Quotation marks stay as they are written: many belong to commands.
smartquotes = False

# GitHub's Markdown, and its anchors of headings.
myst_heading_anchors = 6
myst_enable_extensions = ["strikethrough"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
add_module_names = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_preprocess_types = False
# Sections that ackclock.columns adds to docstrings.
napoleon_custom_sections = [(f"Columns of {name}", "params_style") for name in tables()]

html_theme = "furo"
html_title = "Ackclock"
html_static_path = ["static"]
templates_path = ["templates"]
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"}), ("field.js", {"defer": "defer"})]
html_favicon = "../../web/src/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
html_search_scorer = str(Path(__file__).parent / "scorer.js")
# Summaries of results would be fetched, which a browser refuses for local files.
html_show_search_summary = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/search.html",
        "sidebar/versions.html",
        "sidebar/playground.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_permalinks_icon = "#"
html_theme_options: dict[str, Any] = {
    "light_css_variables": {"color-brand-primary": "#00518a", "color-brand-content": "#00518a"},
    "dark_css_variables": {"color-brand-primary": "#7dbcf2", "color-brand-content": "#7dbcf2"},
}
