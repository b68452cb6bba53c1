"""examples/notebook.ipynb does not lie: it runs from its first cell to its last and shows what is stored in it."""

from __future__ import annotations

import base64
import importlib.util
import json
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).parent.parent.parent
NOTEBOOK = ROOT / "examples" / "notebook.ipynb"


def outputs(notebook: nbformat.NotebookNode) -> list[list[dict[str, Any]]]:
    """What each cell shows. A picture is one, whatever its bytes; they differ with the fonts of a machine."""
    return [[_output(output) for output in cell.get("outputs", ())] for cell in notebook.cells]


def _output(output: dict[str, Any]) -> dict[str, Any]:
    data = {kind: "" if kind.startswith("image/") else value for kind, value in output.get("data", {}).items()}
    return {"type": output["output_type"], "text": output.get("text"), "data": data}


@pytest.mark.slow
def test_it_shows_what_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("examples_execute", ROOT / "examples" / "execute.py")
    assert spec is not None
    assert spec.loader is not None
    execute = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(execute)
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.setenv("JUPYTER_PATH", str(Path(sys.prefix) / "share" / "jupyter"))
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert outputs(execute.executed()) == outputs(stored), "run `make notebook`"


def test_it_is_small_and_clean() -> None:
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 300_000
    assert not re.search(r"/(?:home|root|Users|tmp)/", text)
    notebook = json.loads(text)
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    assert {tuple(cell["metadata"]) for cell in notebook["cells"]} == {()}
    assert [c["execution_count"] for c in notebook["cells"] if c["cell_type"] == "code"] == list(range(1, 10))


def test_it_has_a_plot_and_no_error() -> None:
    shown = [output for cell in json.loads(NOTEBOOK.read_text())["cells"] for output in cell.get("outputs", ())]
    pictures = [output["data"]["image/png"] for output in shown if "image/png" in output.get("data", {})]
    assert [base64.b64decode(picture)[:4] for picture in pictures] == [b"\x89PNG"]
    assert not [output for output in shown if output["output_type"] == "error"]
