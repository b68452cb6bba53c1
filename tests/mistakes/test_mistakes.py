"""The likely mistakes of a new user get the answers in `expected.txt`. `PINAKES_GOLDEN=1` rewrites it: read it."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from pinakes.cli.main import main
from tests.mistakes.cases import CASES, GIVEN

EXPECTED = Path(__file__).parent / "expected.txt"
RULE = "-" * 100
FILES = {
    "broken.csv": "a,b\n1,2\n3,4,5\n",
    "wrong.toml": "[engin]\ndata = 'x'\n",
    "data.xlsx": "PK",
    "points/x.txt": "",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert main(["--data", "data", "-c", GIVEN]) == 0
    capsys.readouterr()
    return tmp_path


def told(case: str, home: Path, capsys: pytest.CaptureFixture[str]) -> str:
    arguments = shlex.split(case)[1:] if case.startswith("pinakes") else ["--data", "data", "-c", case]
    try:
        code = main(arguments)
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    out, err = capsys.readouterr()
    assert code in (1, 2), f"{case} passes for right:\n{out}"
    assert out == "", case
    return f"{case}\n\n{steady(err, home)}"


def steady(text: str, home: Path) -> str:
    """Without what differs from run to run."""
    text = re.sub(r"\b\d{19}\b|\b\d{17,18}\b", "<snapshot>", text.replace(str(home), "<here>"))
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z| UTC)?", "<time>", text).strip()


@pytest.mark.slow
def test_mistakes_are_answered_as_a_person_would_want(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answers = f"\n{RULE}\n".join(told(case, home, capsys) for case in CASES) + "\n"
    if os.environ.get("PINAKES_GOLDEN"):
        EXPECTED.write_text(answers, encoding="utf-8")
    assert answers.split(RULE) == EXPECTED.read_text(encoding="utf-8").split(RULE)


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 30
