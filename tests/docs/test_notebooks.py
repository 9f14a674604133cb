"""Every notebook runs, and is stored without outputs."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this process, which takes a sixth of the time; the stage jupyter has a kernel."""
    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if "outputs" in cell]
    assert cells
    assert [cell for cell in cells if cell["outputs"] or cell["execution_count"]] == []
    names: dict[str, Any] = {}
    with mpl.rc_context(), warnings.catch_warnings(action="ignore"):
        for cell in cells:
            exec(compile("".join(cell["source"]), path.name, "exec"), names)
            for number in plt.get_fignums():
                plt.figure(number).canvas.draw()
            plt.close("all")
        names.clear()  # with a folder that Python removes, and warns of
