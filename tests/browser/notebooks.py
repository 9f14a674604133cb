"""Runs each notebook with a kernel, and takes its pictures in a browser.

`python tests/browser/notebooks.py` fails if a cell has an error, or a cell that draws shows no
picture. It writes screenshots of a light and a dark page to build/screenshots; `--pictures` also
replaces those of the README in docs/_static.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbconvert import HTMLExporter
from nbconvert.preprocessors import ExecutePreprocessor
from PIL import Image, ImageChops

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build/screenshots"
DRAWS = re.compile(r"\b(plt\.subplots|td\.plot\.(pnl_curve|blotter|exposure|fills))\(")
MARGIN = "<style>body { padding: 8px 16px }</style>"
FOR_README = ("01-first-look", (1, 4))  # the cells of the first book and of the first chart


def wrong(cells: list[Any]) -> Iterator[str]:
    """What is wrong with the outputs of the code cells."""
    for at, cell in enumerate(cells, start=1):
        name = f"code cell {at} ({cell.source.splitlines()[0][:50]})"
        shown = [output for output in cell.outputs if "image/png" in output.get("data", ())]
        for output in cell.outputs:
            if output.output_type == "error" or output.get("name") == "stderr":
                yield f"{name}: {output.get('text') or output.evalue}"
        if DRAWS.search(cell.source) and not shown:
            yield f"{name} shows no picture"
        if any("needs_background" in output.metadata for output in shown):
            yield f"{name}: its picture is on a box of its own colour"


def photograph(chromium: str, cells: list[Any], name: str) -> None:
    """Takes a picture of cells on a light and a dark page, as JupyterLab shows them."""
    notebook = nbformat.v4.new_notebook(cells=cells)
    for theme in ("light", "dark"):
        page = SCREENSHOTS / f"{name}-{theme}.html"
        text = HTMLExporter(theme=theme).from_notebook_node(notebook)[0]
        page.write_text(text.replace("</head>", f"{MARGIN}</head>"), "utf-8")
        picture = page.with_suffix(".png")
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1120,12000")
        command = [chromium, *options, f"--screenshot={picture}", page.as_uri()]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, timeout=120)
        image = Image.open(picture).convert("RGB")
        empty = Image.new("RGB", image.size, image.getpixel((0, 0)))
        image.crop(ImageChops.difference(image, empty).getbbox()).save(picture, optimize=True)


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        print("no chromium: apt-get install chromium", file=sys.stderr)
        return 1
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    faults = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as folder:
            run = ExecutePreprocessor(timeout=120, allow_errors=True)
            run.preprocess(notebook, {"metadata": {"path": folder}})
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        faults += [f"{path.name}: {fault}" for fault in wrong(cells)]
        photograph(chromium, notebook.cells, path.stem)
        if path.stem == FOR_README[0]:
            photograph(chromium, [cells[at] for at in FOR_README[1]], "notebook")
        print(path.name, flush=True)
    if "--pictures" in sys.argv:
        for picture in SCREENSHOTS.glob("notebook-*.png"):
            shutil.copy(picture, ROOT / "docs/_static")
    print(*faults, sep="\n")
    print(f"screenshots: {SCREENSHOTS.relative_to(ROOT)}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
