"""A bar chart as SVG, written by hand: groups of bars, one colour per contestant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

COLOURS = ("#2a6f97", "#e07a5f", "#81b29a", "#f2cc8f")
HEIGHT, LEFT, BAR, GAP = 240, 50, 8, 10


def bars(title: str, groups: Sequence[str], series: Mapping[str, Sequence[float]], *, gap: int = GAP) -> str:
    """Each series has one value per group; long names of groups need a wider `gap`."""
    top = max(value for values in series.values() for value in values)
    step = BAR * len(series) + gap
    width = LEFT + step * len(groups) + 20
    parts = [f'<text x="{LEFT}" y="16" font-size="13">{title}</text>']
    parts += _scale(top, width)
    for place, (name, values) in enumerate(series.items()):
        colour = COLOURS[place % len(COLOURS)]
        parts.append(f'<rect x="{LEFT + place * 110}" y="26" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{LEFT + 14 + place * 110}" y="35">{name}</text>')
        parts += [_bar(LEFT + i * step + place * BAR, value / top, colour) for i, value in enumerate(values)]
    parts += [f'<text x="{LEFT + i * step}" y="{HEIGHT + 64}">{g}</text>' for i, g in enumerate(groups)]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{HEIGHT + 76}" font-size="10"'
    return "\n".join([f'{head} font-family="sans-serif" fill="#333">', *parts, "</svg>", ""])


def _bar(x: float, share: float, colour: str) -> str:
    height = share * HEIGHT
    return f'<rect x="{x}" y="{50 + HEIGHT - height:.1f}" width="{BAR - 1}" height="{height:.1f}" fill="{colour}"/>'


def _scale(top: float, width: float) -> list[str]:
    lines = []
    for share in (0.25, 0.5, 0.75, 1.0):
        y = 50 + HEIGHT * (1 - share)
        lines.append(f'<line x1="{LEFT}" x2="{width}" y1="{y}" y2="{y}" stroke="#ddd"/>')
        lines.append(f'<text x="2" y="{y + 4}">{top * share:.0f}</text>')
    return lines
