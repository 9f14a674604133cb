"""Sphinx settings: `python -m sphinx -W docs build/docs`, with the package installed."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "tradingdata"
author = "The tradingdata authors"
copyright = "2026, the tradingdata authors"
version = release = installed_version("tradingdata")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "code_map",
    "commands",
    "executed",
    "fields",
    "shown_signatures",
]
exclude_patterns = ["_build", "notebooks/README.md"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
# The extension `executed` runs blocks and notebooks, without a kernel for each page.
nb_execution_mode = "off"
nb_custom_formats = {".md": "executed.read_page", ".ipynb": "executed.read_notebook"}
copybutton_selector = "div.highlight:not(.output div) > pre"  # code, not what it prints

autodoc_member_order = "bysource"
autodoc_type_aliases = {"Record": "Record", "AnyBook": "AnyBook"}
default_role = "code"  # what single backquotes mean in a docstring
autodoc_typehints = "signature"
# One parameter per line if a signature is too long for one, and short names of types.
python_maximum_signature_line_length = 100
python_use_unqualified_type_names = True
autoclass_content = "both"  # the options of a client are documented where it takes them
napoleon_use_ivar = True  # attributes described in a class need no separate entry

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
pygments_dark_style = "github-dark"
html_title = f"tradingdata {release}"
