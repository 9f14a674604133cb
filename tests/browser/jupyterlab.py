"""Opens each notebook in JupyterLab, runs it in a browser, and looks for its charts.

`python tests/browser/jupyterlab.py` fails if a cell has an error, or a cell that draws
shows no picture. It writes screenshots on a light and a dark page to build/screenshots;
`--pictures` also replaces those of the README in docs/_static.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, TimeoutError, sync_playwright

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "build/screenshots"
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
DRAWS = re.compile(r"\b(plt\.subplots|td\.plot\.(pnl_curve|blotter|exposure|fills))\(")
SECONDS = 120  # for one notebook, on a busy machine


def serve(folder: Path, token: str) -> tuple[subprocess.Popen[bytes], str]:
    """Starts JupyterLab and returns its process and address."""
    runtime = folder / ".runtime"
    # Cells that are not in view are rendered too.
    settings = folder / ".settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"windowingMode": "none"}', "utf-8")
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"),
            f"--IdentityProvider.token={token}",
            "--KernelManager.transport=ipc",  # ports may be taken before a kernel binds them
            f"--ServerApp.root_dir={folder / 'notebooks'}",
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ],
        env={
            **os.environ,
            "JUPYTER_RUNTIME_DIR": str(runtime),
            "JUPYTER_CONFIG_DIR": str(folder / ".config"),
            "JUPYTERLAB_SETTINGS_DIR": str(folder / ".settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(folder / ".workspaces"),
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    for _ in range(600):
        for info in runtime.glob("jpserver-*.json"):
            try:
                url = str(json.loads(info.read_text("utf-8"))["url"])
                urllib.request.urlopen(f"{url}api/status?token={token}", timeout=5).close()
            except (OSError, ValueError):
                continue
            return process, url
        time.sleep(0.1)
    process.kill()
    raise TimeoutError("JupyterLab did not start within a minute")


def run(page: Page, url: str, token: str, notebook: Path) -> list[str]:
    """Runs a notebook. Returns what is wrong with its outputs."""
    cells = [
        "".join(cell["source"])
        for cell in json.loads(notebook.read_text("utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    page.goto(f"{url}lab/workspaces/{notebook.stem}/tree/{notebook.name}?token={token}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=SECONDS * 1000)
    page.wait_for_function(
        "window.jupyterapp.shell.currentWidget?.context?.sessionContext?.session"
        "?.kernel?.status === 'idle'",
        timeout=SECONDS * 1000,
    )
    page.wait_for_timeout(1000)
    page.evaluate(
        "() => { window.jupyterapp.commands.execute('notebook:run-all-cells')"
        ".then(() => { window.ran = true }) }"
    )
    page.wait_for_function("window.ran", timeout=SECONDS * 1000)
    drawing = sum(bool(DRAWS.search(source)) for source in cells)
    with contextlib.suppress(TimeoutError):  # then the missing ones are named below
        page.wait_for_function(
            f"document.querySelectorAll('.jp-OutputArea img').length >= {drawing}", timeout=8000
        )
    page.wait_for_timeout(500)  # pictures are decoded
    wrong = []
    found: list[dict[str, Any]] = page.evaluate(
        """() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')].map(cell => ({
            prompt: cell.querySelector('.jp-InputPrompt').textContent,
            pictures: [...cell.querySelectorAll('.jp-OutputArea img')].filter(
                img => img.naturalWidth > 200).length,
            boxed: cell.querySelectorAll('.jp-needs-light-background,.jp-needs-dark-background')
                .length,
            errors: [...cell.querySelectorAll('[data-mime-type$=stderr],[data-mime-type$=error]')]
                .map(output => output.textContent.slice(0, 400)),
        }))"""
    )
    if len(found) != len(cells):
        wrong.append(f"{len(found)} of {len(cells)} code cells are on the page")
    for at, (source, cell) in enumerate(zip(cells, found, strict=False), start=1):
        name = f"code cell {at} ({source.splitlines()[0][:50]})"
        wrong += [f"{name}: {error}" for error in cell["errors"]]
        if not re.search(r"\[\d+\]", cell["prompt"]):
            wrong.append(f"{name} did not run")
        if DRAWS.search(source) and not cell["pictures"]:
            wrong.append(f"{name} shows no picture")
        if cell["boxed"]:
            wrong.append(f"{name}: its picture is on a box of its own colour")
    return wrong


def photograph(page: Page, name: str) -> None:
    """Takes a picture of the notebook on a light and a dark page."""
    for theme, label in THEMES.items():
        page.evaluate(
            "theme => { window.jupyterapp.commands.execute('apputils:change-theme', {theme}) }",
            label,
        )
        page.wait_for_selector(f"body[data-jp-theme-name='{label}']", state="attached")
        page.wait_for_timeout(700)
        page.locator(".jp-Notebook").screenshot(path=SCREENSHOTS / f"{name}-{theme}.png")
        if name == "01-first-look":
            photograph_for_readme(page, theme)


def photograph_for_readme(page: Page, theme: str) -> None:
    """Joins the pictures of the first book and of the first chart."""
    from PIL import Image

    cells = page.locator(".jp-Notebook .jp-CodeCell")
    parts = [Image.open(io.BytesIO(cells.nth(at).screenshot())).convert("RGB") for at in (1, 4)]
    size = (max(part.width for part in parts), sum(part.height for part in parts))
    joined = Image.new("RGB", size, parts[0].getpixel((0, 0)))
    top = 0
    for part in parts:
        joined.paste(part, (0, top))
        top += part.height
    joined.save(SCREENSHOTS / f"notebook-{theme}.png", optimize=True)


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        print("no chromium: apt-get install chromium", file=sys.stderr)
        return 1
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    token, wrong, pictures = secrets.token_hex(16), [], 0
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        shutil.copytree(ROOT / "notebooks", folder / "notebooks")
        server, url = serve(folder, token)
        try:
            browser = playwright.chromium.launch(
                executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"]
            )
            # High enough to hold a notebook in a screenshot.
            page = browser.new_page(viewport={"width": 1400, "height": 8000})
            for notebook in sorted((folder / "notebooks").glob("*.ipynb")):
                problems = run(page, url, token, notebook)
                wrong += [f"{notebook.name}: {problem}" for problem in problems]
                photograph(page, notebook.stem)
                print(notebook.name, f"{len(problems)} problems", flush=True)
                pictures += page.locator(".jp-OutputArea img").count()
            browser.close()
        finally:
            server.kill()  # its kernels follow; a polite end asks for confirmation
            server.wait()
    if "--pictures" in sys.argv:
        for theme in THEMES:
            shutil.copy(SCREENSHOTS / f"notebook-{theme}.png", ROOT / "docs/_static")
    print(*wrong, sep="\n")
    print(f"{pictures} pictures in all notebooks; screenshots: {SCREENSHOTS.relative_to(ROOT)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
