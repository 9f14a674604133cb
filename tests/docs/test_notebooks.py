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


def test_a_notebook_ends_with_what_to_take_away() -> None:
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
        prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
        assert prose[-1].startswith("## What to take away\n\n- "), path.name


def test_the_list_of_notebooks_has_each_with_its_picture() -> None:
    text = (NOTEBOOKS[0].parent / "README.md").read_text("utf-8")
    for path in NOTEBOOKS:
        assert f"({path.name})" in text
        assert f"(../docs/_static/notebooks/{path.stem}.png)" in text
        assert (path.parents[1] / f"docs/_static/notebooks/{path.stem}.png").is_file()
