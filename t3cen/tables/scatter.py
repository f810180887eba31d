"""Ours against the paper's, a dot for each cell, as inline SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from markupsafe import Markup, escape

from t3cen.tables.printed import PrintedCell

SIZE, LEFT, BELOW, TOP = 430, 46, 40, 12
TICKS = (0, 1, 5, 10, 20, 40, 60, 80, 100)


@dataclass(frozen=True)
class Dot:
    """One cell of a table: its name, and the two means in percent with their standard deviations."""

    name: str
    paper: float
    ours: float
    paper_sd: float
    ours_sd: float


def dots(cells: Sequence[tuple[str, PrintedCell]]) -> list[Dot]:
    """Those cells that hold a trained number of ours and one of the paper's."""
    found = []
    for name, cell in cells:
        if cell.published and cell.ours and cell.seeds:
            paper, ours = cell.published, cell.ours
            found.append(Dot(name, paper.mean, ours.mean, paper.sd or 0.0, ours.sd or 0.0))
    return found


def svg(drawn: Sequence[Dot]) -> Markup:
    """The paper's number to the right, ours upward; both axes widen small numbers (square roots). Equal ones are on a line."""
    most = max([1.0, *(max(dot.paper + dot.paper_sd, dot.ours + dot.ours_sd) for dot in drawn)])
    top = min(next((tick for tick in TICKS if tick >= most), 100), 100)
    parts = [f'<line x1="{_x(0, top)}" y1="{_y(0, top)}" x2="{_x(top, top)}" y2="{_y(top, top)}" class="equal"/>']
    for tick in (tick for tick in TICKS if tick <= top):
        x, y = _x(tick, top), _y(tick, top)
        parts.append(f'<line x1="{x}" y1="{_y(0, top)}" x2="{x}" y2="{_y(top, top)}" class="axis"/>')
        parts.append(f'<line x1="{_x(0, top)}" y1="{y}" x2="{_x(top, top)}" y2="{y}" class="axis"/>')
        parts.append(f'<text x="{x}" y="{_y(0, top) + 15}" text-anchor="middle" class="axis-text">{tick}</text>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4}" text-anchor="end" class="axis-text">{tick}</text>')
    for dot in drawn:
        x, y = _x(dot.paper, top), _y(dot.ours, top)
        low, high = _y(dot.ours - dot.ours_sd, top), _y(dot.ours + dot.ours_sd, top)
        left, right = _x(dot.paper - dot.paper_sd, top), _x(dot.paper + dot.paper_sd, top)
        title = f"{dot.name}: ours {dot.ours:.2f}, the paper's {dot.paper:.2f}"
        parts.append(
            f'<g class="cell"><title>{escape(title)}</title><line x1="{x}" y1="{low}" x2="{x}" y2="{high}"/>'
            f'<line x1="{left}" y1="{y}" x2="{right}" y2="{y}"/><circle cx="{x}" cy="{y}" r="4" class="dot0"/></g>'
        )
    middle = (LEFT + SIZE) / 2
    parts.append(f'<text x="{middle}" y="{SIZE - 6}" text-anchor="middle" class="axis-text">the paper, %</text>')
    parts.append(
        f'<text x="12" y="{middle}" transform="rotate(-90 12 {middle})" text-anchor="middle" class="axis-text">ours, %</text>'
    )
    label = f"Ours against the paper's, {len(drawn)} cells"
    return Markup(f'<svg class="scatter" viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{label}">{"".join(parts)}</svg>')


def _x(value: float, top: float) -> float:
    return round(LEFT + (SIZE - LEFT - TOP) * sqrt(min(max(value, 0.0), top) / top), 1)


def _y(value: float, top: float) -> float:
    return round(SIZE - BELOW - (SIZE - BELOW - TOP) * sqrt(min(max(value, 0.0), top) / top), 1)
