"""Every notebook runs, and is stored without outputs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from kernels import run_notebook

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert cells
    assert [cell for cell in cells if cell.outputs or cell.execution_count] == []
    run_notebook(notebook, path.parent)
    assert all(cell.execution_count for cell in cells)
