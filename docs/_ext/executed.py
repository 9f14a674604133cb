"""Runs the Python blocks of every page, and the notebooks, and shows their output below them.

A page is run from top to bottom in a process of its own, in an empty folder and without an account:
what a page shows is what a reader gets who types it. A block that fails is a warning of the build.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata

import tradingdata
from tradingdata import _core

BLOCK = re.compile(r"^```python\n(.*?)^```$\n?", re.MULTILINE | re.DOTALL)
RUNNER = Path(__file__).with_name("run_cells.py")

log = logging.getLogger(__name__)
page = ""


def read_page(text: str) -> NotebookNode:
    """Returns a page as a notebook: its Python blocks are cells."""
    parts = BLOCK.split(text)  # prose and code alternate
    cells = [
        v4.new_code_cell(part) if at % 2 else v4.new_markdown_cell(part)
        for at, part in enumerate(parts)
        if part.strip()
    ]
    return executed(v4.new_notebook(cells=cells))


def read_notebook(text: str) -> NotebookNode:
    """Returns a notebook with outputs."""
    return executed(nbformat.reads(text, as_version=4))


def executed(notebook: NotebookNode) -> NotebookNode:
    """Fills in the outputs of the code cells."""
    notebook.metadata.language_info = {"name": "python", "pygments_lexer": "python"}
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if not cells:
        return notebook
    outputs = run([cell.source for cell in cells])
    for cell, found in zip(cells, outputs, strict=True):
        for output in found:
            if output["output_type"] == "error":
                trace = "\n".join(output["traceback"])
                log.warning("a block fails: %s\n%s", cell.source, trace, location=page)
        cell.outputs = [nbformat.from_dict(output) for output in found]
    return notebook


def run(sources: list[str]) -> list[list[dict[str, Any]]]:
    """Runs the cells in a new process. Returns the outputs of each."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("TRADINGDATA_")
        }
        environment |= {"HOME": folder, "XDG_CONFIG_HOME": folder, "IPYTHONDIR": folder}
        result = Path(folder, ".outputs.json")
        done = subprocess.run(
            [sys.executable, str(RUNNER), str(result)],
            input=json.dumps(sources),
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        if done.returncode or not result.exists():
            raise RuntimeError(f"the blocks of a page did not run to their end: {done.stderr}")
        outputs: list[list[dict[str, Any]]] = json.loads(result.read_text("utf-8"))
        return outputs


def fingerprint() -> str:
    """Identifies the installed package: another one runs all pages again."""
    folder = Path(tradingdata.__file__).parent
    files = [*sorted(folder.rglob("*.py")), Path(str(_core.__file__))]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def note_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Remembers the page that is read: a reader of MyST-NB only gets its text."""
    global page
    page = docname


def setup(app: Sphinx) -> ExtensionMetadata:
    app.connect("source-read", note_page)
    app.add_config_value("executed_package", fingerprint(), "env")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
