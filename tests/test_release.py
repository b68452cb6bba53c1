"""A release: wheel and sdist build, and what is in them works in an environment that has nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
SCRIPT = "CREATE TABLE t AS SELECT value AS n FROM range(5); SELECT sum(n) AS total FROM t; SHOW CATALOGS"


def test_what_is_pinned_can_be_installed_where_pinakes_can() -> None:
    """With the oldest Python that pyproject allows, and not only with the one that runs here."""
    told = re.search(r'^requires-python = ">=([\d.]+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert told is not None
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert len(pinned) > 50
    wanted = {name: _wanted(name) for name in pinned}
    assert {name: text for name, text in wanted.items() if f"{told[1]}.0" not in SpecifierSet(text)} == {}


def _wanted(name: str) -> str:
    """The versions of Python that a package is for; any, if it is not installed here."""
    try:
        return metadata.metadata(name).get("Requires-Python") or ""
    except metadata.PackageNotFoundError:
        return ""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with a wheel and an sdist."""
    directory = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(directory), str(ROOT)]
    done = subprocess.run(build, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return directory


@pytest.mark.slow
def test_what_is_in_them(release: Path) -> None:
    """Code and types, and of the repository only what belongs to it."""
    (wheel,), (sdist,) = release.glob("*.whl"), release.glob("*.tar.gz")
    in_wheel = zipfile.ZipFile(wheel).namelist()
    assert "pinakes/py.typed" in in_wheel
    assert {name.split("/")[0].split("-")[0] for name in in_wheel} == {"pinakes"}
    with tarfile.open(sdist) as archive:
        in_sdist = [name.split("/", 1)[1] for name in archive.getnames() if "/" in name]
    assert {"pyproject.toml", "LICENSE", "README.md", "pinakes/engine/run.py"} <= set(in_sdist)
    assert not [name for name in in_sdist if name.startswith((".venv", "build/"))]


@pytest.mark.slow
def test_a_wheel_works_in_an_empty_environment(release: Path, tmp_path: Path) -> None:
    (wheel,) = release.glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    python = str(tmp_path / "venv/bin/python")
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, str(wheel)], check=True, cwd=tmp_path)
    run = [str(tmp_path / "venv/bin/pinakes"), "--data", "lake", "--format", "csv", "-c", SCRIPT]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "total\n10\nCatalog\nlake\nsystem\n")
    asked = "import pinakes; print(pinakes.connect(data=':memory:').sql('SELECT 1 AS x').fetchall())"
    done = subprocess.run([python, "-c", asked], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[(1,)]\n", "")
