"""Runs code cells (a JSON list on standard input) and writes the outputs of each to a file.

IPython without a kernel: it starts in half a second, and a block may use `asyncio.run` as a script
does.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output


class Shell(InteractiveShell):
    """Has no event loop of a window system, which inline figures do not need."""

    def enable_gui(self, gui: str | None = None) -> None:
        pass


def outputs_of(shell: InteractiveShell, source: str) -> list[dict[str, Any]]:
    """Runs a cell. Returns its outputs in the format of notebooks, printed text first."""
    with capture_output() as captured:
        shell.display_trap.hook = sys.displayhook  # captures the value of the last expression
        result = shell.run_cell(source)
    outputs: list[dict[str, Any]] = [
        {"output_type": "stream", "name": name, "text": text}
        for name, text in (("stdout", captured.stdout), ("stderr", captured.stderr))
        if text
    ]
    for shown in captured.outputs:
        data, metadata = shown._repr_mimebundle_()
        if data["text/plain"].startswith(("<Axes", "<matplotlib.")):  # their picture follows
            continue
        outputs.append({"output_type": "display_data", "data": data, "metadata": metadata})
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        trace = traceback.format_exception(error)
        name = type(error).__name__
        outputs = [
            {"output_type": "error", "ename": name, "evalue": str(error), "traceback": trace}
        ]
    return outputs


def main() -> None:
    shell = Shell.instance(colors="nocolor", history_manager=None)
    shell.run_line_magic("matplotlib", "inline")
    shell.user_ns["__name__"] = "page"  # a script's `main()` is for its readers to run
    found = [outputs_of(shell, source) for source in json.load(sys.stdin)]
    Path(sys.argv[1]).write_text(json.dumps(found), "utf-8")
    sys.stdout.flush()
    os._exit(0)  # without waiting for the sandboxes that a page has left running


main()
