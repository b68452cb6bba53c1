"""Runs the example notebook from its first cell to its last and stores what it shows (`make notebook`).

What would differ from machine to machine, or from run to run, is not kept: the kernel's own metadata and the times.
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent / "notebook.ipynb"


def executed(path: Path = NOTEBOOK) -> nbformat.NotebookNode:
    """The notebook as it comes out of a new kernel."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": path.parent}})
    client.record_timing = False
    client.execute()
    return cleaned(notebook)


def cleaned(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = nbformat.from_dict({"kernelspec": kernel, "language_info": {"name": "python"}})
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"cell-{number:02}"
        cell.metadata = nbformat.from_dict({})
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
