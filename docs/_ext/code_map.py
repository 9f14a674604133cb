"""The `code-map` directive: the layers of the core or the package, drawn from the source.

Below the package it lists each part with the first sentence of its docstring.

`python docs/_ext/code_map.py core > core.svg` writes the same picture to a file.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

ROOT = Path(__file__).parents[2]
CORE = ROOT / "cpp/src"
PACKAGE = ROOT / "python/tradingdata"
Edges = dict[str, set[str]]

WIDTH, BOX, HEIGHT, GAP = 720, 110, 40, 46
STYLE = (
    "rect{fill:none;stroke:currentColor;rx:4}text{fill:currentColor;font:13px sans-serif;"
    "text-anchor:middle}.size{font-size:10px;opacity:.7}line{stroke:currentColor;opacity:.55}"
)


def core() -> Edges:
    """Returns each layer of the core with the layers whose headers it includes."""
    edges: Edges = {folder.name: set() for folder in CORE.iterdir() if folder.is_dir()}
    for path in CORE.rglob("*.?pp"):
        used = set(re.findall(r'^#include "(\w+)/', path.read_text("utf-8"), re.MULTILINE))
        layer = path.relative_to(CORE).parts[0]
        edges[layer] |= used - {layer}
    return edges


def package() -> Edges:
    """Returns each part of the package with the parts that it imports."""
    edges: Edges = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE).with_suffix("").parts
        if inside[0].startswith("__"):  # the public names, which are those of every part
            continue
        edges.setdefault(inside[0], set()).update(set(_imports(path, inside)) - {inside[0]})
    names = {*edges, "_core"}
    return {name: edges.get(name, set()) & names for name in names}


def _imports(path: Path, inside: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        module = node.module.split(".") if node.module else []
        if node.level:
            module = [*inside[: len(inside) - node.level], *module]
        elif module[:1] == ["tradingdata"]:
            module = module[1:]
        else:
            continue
        yield from module[:1] or (alias.name for alias in node.names)


def direct(edges: Edges) -> Edges:
    """Returns the edges that are not implied by others, which would hide the order."""

    def reachable(name: str) -> set[str]:
        return {name}.union(*(reachable(below) for below in edges[name]))

    return {
        name: {
            one
            for one in below
            if not any(one in reachable(other) for other in below if other != one)
        }
        for name, below in edges.items()
    }


def ranks(edges: Edges) -> list[list[str]]:
    """Returns the names by their height above the lowest, the highest first."""

    def height(name: str) -> int:
        return 1 + max(map(height, edges[name]), default=-1)

    rows: dict[int, list[str]] = {}
    for name in sorted(edges):
        rows.setdefault(height(name), []).append(name)
    return [rows[height] for height in sorted(rows, reverse=True)]


def draw(edges: Edges, sizes: dict[str, int]) -> str:
    """Returns the SVG: a box for each name, and a line to each that it uses directly."""
    rows = ranks(edges)
    place = {
        name: (WIDTH * (column + 1) // (len(row) + 1), level * (HEIGHT + GAP) + 4)
        for level, row in enumerate(rows)
        for column, name in enumerate(row)
    }
    lines = [
        f'<line x1="{place[name][0]}" y1="{place[name][1] + HEIGHT}" '
        f'x2="{place[other][0]}" y2="{place[other][1]}"/>'
        for name, below in sorted(direct(edges).items())
        for other in sorted(below)
    ]
    boxes = [
        f'<rect x="{x - BOX // 2}" y="{y}" width="{BOX}" height="{HEIGHT}"/>'
        f'<text x="{x}" y="{y + 18}">{name}</text>'
        f'<text class="size" x="{x}" y="{y + 33}">{sizes[name]:,} lines</text>'
        for name, (x, y) in sorted(place.items())
    ]
    height = len(rows) * (HEIGHT + GAP)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
        f"<style>{STYLE}</style>{''.join(lines)}{''.join(boxes)}</svg>"
    )


def sizes(folder: Path, names: Edges) -> dict[str, int]:
    """Returns the lines of code and comments below each folder, or in the module, of a name."""
    return {
        name: sum(
            len(path.read_text("utf-8").splitlines())
            for path in [folder / f"{name}.py", *(folder / name).rglob("*")]
            if path.suffix in {".py", ".pyi", ".cpp", ".hpp"} and path.is_file()
        )
        for name in names
    }


def picture(what: str) -> str:
    """Returns the picture of the `core` or the `package`."""
    edges, folder = (core(), CORE) if what == "core" else (package(), PACKAGE)
    return draw(edges, sizes(folder, edges))


def sentences() -> dict[str, str]:
    """Returns what each part of the package says of itself, the highest first."""
    said = {}
    for name in (name for rank in ranks(package()) for name in rank):
        files = [PACKAGE / f"{name}.py", *PACKAGE.glob(f"{name}/__init__.py*")]
        (path,) = (path for path in files if path.is_file())
        said[name] = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n\n")[0]
    return said


def setup(app: Sphinx) -> ExtensionMetadata:
    from docutils import nodes  # here, so that the tests need no Sphinx
    from docutils.parsers.rst import Directive

    class CodeMap(Directive):
        """The picture of `core` or `package`."""

        required_arguments = 1

        def run(self) -> list[nodes.Node]:
            drawn = nodes.raw("", picture(self.arguments[0]), format="html")
            items = nodes.definition_list()
            for name, said in sentences().items() if self.arguments[0] == "package" else ():
                meaning = nodes.definition("", nodes.paragraph(text=said.replace("`", "")))
                items += nodes.definition_list_item("", nodes.term(text=name), meaning)
            return [drawn, items] if items.children else [drawn]

    app.add_directive("code-map", CodeMap)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    print(picture(sys.argv[1]))
