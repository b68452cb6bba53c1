"""Writes small Excel files: the parts of the format that tests need, by hand."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_STYLES = (
    f'<styleSheet xmlns="{_MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="21"/></cellXfs>'
    "</styleSheet>"
)


class Broken(str):
    """A cell with an error, such as #N/A."""


def write_workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]], first: tuple[int, int] = (1, 1)) -> None:
    """Writes sheets of rows; `first` is the row and the column of the first cell, from 1. None writes no cell."""
    names = list(sheets)
    rel = f"{_OFFICE}/worksheet"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>'
        + "".join(f'<sheet name="{n}" sheetId="{i}" r:id="rId{i}"/>' for i, n in enumerate(names, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">'
        + "".join(
            f'<Relationship Id="rId{i}" Type="{rel}" Target="worksheets/sheet{i}.xml"/>'
            for i in range(1, len(names) + 1)
        )
        + f'<Relationship Id="rId99" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": _STYLES,
        **{f"xl/worksheets/sheet{i}.xml": _sheet(sheets[n], first) for i, n in enumerate(names, 1)},
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in parts.items():
            packed.writestr(name, text)


def _sheet(rows: Sequence[Sequence[Any]], first: tuple[int, int]) -> str:
    shown = []
    for y, row in enumerate(rows, first[0]):
        cells = [_cell(f"{_letters(x)}{y}", value) for x, value in enumerate(row, first[1]) if value is not None]
        shown.append(f'<row r="{y}">{"".join(cells)}</row>')
    return f'<worksheet xmlns="{_MAIN}"><sheetData>{"".join(shown)}</sheetData></worksheet>'


def _cell(place: str, value: Any) -> str:
    match value:
        case Broken():
            return f'<c r="{place}" t="e"><v>{value}</v></c>'
        case str():
            return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
        case bool():
            return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
        case datetime():
            return f'<c r="{place}" s="2"><v>{(value - datetime(1899, 12, 30)) / timedelta(days=1)!r}</v></c>'
        case date():
            return f'<c r="{place}" s="1"><v>{(value - date(1899, 12, 30)).days}</v></c>'
        case time():
            seconds = value.hour * 3600 + value.minute * 60 + value.second
            return f'<c r="{place}" s="3"><v>{seconds / 86400!r}</v></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def _letters(column: int) -> str:
    text = ""
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(65 + rest) + text
    return text
