"""Draws docs/shell.svg: the shell on a terminal, at the catalogs of `make demo`, with what it really shows.

Run it from the top of the repository after `make demo ARGS=--once`: `.venv/bin/python -m docs.shell_picture`.
"""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import Any

from tests.cli.screen import Screen

COLUMNS, ROWS = 92, 36
WIDTH, HEIGHT = 8.0, 17
COLORS = {
    "default": "#d8dee9", "brown": "#ebcb8b", "green": "#a3be8c", "blue": "#81a1c1", "cyan": "#88c0d0",
    "magenta": "#b48ead", "black": "#2e3440", "brightblack": "#7b88a1", "white": "#e5e9f0", "red": "#bf616a",
}  # fmt: skip
LINES = (
    "SELECT r.stars, count(*) AS lines, max(l.l_shipdate) AS last",
    "FROM tpch.lineitem l",
    "JOIN partner.ratings.suppliers r ON r.supplier_id = l.l_suppkey",
    "GROUP BY r.stars ORDER BY r.stars DESC;",
)


def picture() -> str:
    home = Path("build/demo").resolve()
    screen = Screen(home, dict(os.environ), "--no-rc", columns=COLUMNS, rows=ROWS, where=("--data", "lake"))
    try:
        screen.prompt()
        for line in ("\\timing off", "ATTACH 'partner' AS partner (TYPE sqlite);", "SHOW CATALOGS;"):
            screen.enter(line)
            screen.until(line[-4:])
            screen.prompt()
        for line in LINES:
            screen.enter(line)
        screen.until("(5 rows")
        screen.prompt()
        screen.type("SELECT * FROM tpch.")
        screen.until("partsupp", "lineitem ")
        return drawn(screen._screen)
    finally:
        screen.close()


def drawn(screen: Any) -> str:
    """The cells of a terminal as SVG: a text for each run of one colour, a box behind what is marked."""
    parts = [line for y in range(ROWS) for line in _row(screen.buffer[y], y)]
    width, height = COLUMNS * WIDTH + 24, ROWS * HEIGHT + 24
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" font-size="13" '
            'font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace">',
            f'<rect width="{width:g}" height="{height:g}" rx="8" fill="#2e3440"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _row(cells: Any, y: int) -> list[str]:
    found, start = [], 0
    for x in range(1, COLUMNS + 1):
        if x == COLUMNS or _style(cells[x]) != _style(cells[start]):
            found += _run("".join(cells[n].data for n in range(start, x)), start, y, _style(cells[start]))
            start = x
    return found


def _style(cell: Any) -> tuple[str, str, bool]:
    front, back = (cell.bg, cell.fg) if cell.reverse else (cell.fg, cell.bg)
    return _color(front), "" if back == "default" else _color(back), cell.bold


def _color(name: str) -> str:
    return f"#{name}" if len(name) == 6 and all(c in "0123456789abcdef" for c in name) else COLORS.get(name, name)


def _run(text: str, x: int, y: int, style: tuple[str, str, bool]) -> list[str]:
    front, back, bold = style
    left, top = 12 + x * WIDTH, 12 + y * HEIGHT
    box = f'<rect x="{left:g}" y="{top:g}" width="{len(text) * WIDTH:g}" height="{HEIGHT}" fill="{back}"/>'
    weight = ' font-weight="bold"' if bold else ""
    label = (
        f'<text x="{left:g}" y="{top + 13:g}" fill="{front}"{weight} xml:space="preserve" '
        f'textLength="{len(text) * WIDTH:g}">{escape(text)}</text>'
    )
    return [*([box] if back else []), *([label] if text.strip() else [])]


if __name__ == "__main__":
    (Path(__file__).parent / "shell.svg").write_text(picture(), encoding="utf-8")
