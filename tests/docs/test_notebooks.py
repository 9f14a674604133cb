"""Every notebook runs, and is stored without outputs."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from kernels import run_notebook

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.timeout(600)
def test_the_notebooks_run() -> None:
    """In one kernel, which takes seconds to start, and forgets each before the next."""
    whole = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert cells
        assert [cell for cell in cells if cell.outputs or cell.execution_count] == [], path.name
        whole.cells += [nbformat.v4.new_code_cell("%reset -f"), *cells]  # type: ignore[no-untyped-call]
    run_notebook(whole, NOTEBOOKS[0].parent)
    assert all(cell.execution_count for cell in whole.cells)
