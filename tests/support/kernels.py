"""Runs notebooks in kernels that listen on files."""

from __future__ import annotations

import tempfile
from pathlib import Path

from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config


def run_notebook(notebook: NotebookNode, folder: Path) -> None:
    """Runs the cells in that folder; raises CellExecutionError if one fails.

    Not over TCP: a kernel's manager chooses its ports, and another program may take one before the
    kernel binds it, which then dies.
    """
    with tempfile.TemporaryDirectory() as sockets:
        config = Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"})
        client = NotebookClient(
            notebook, kernel_name="python3", config=config, startup_timeout=300, timeout=600
        )
        client.execute(cwd=str(folder))
