"""Training curves of a run, from the CSV logs of its sittings, as small inline SVG."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup, escape

from t3cen.results.logs import number, rows

Curve = list[tuple[float, float]]
WIDTH, HEIGHT, MARGIN = 300, 132, 18
MOST_POINTS = 120


def read(folder: Path) -> dict[str, Curve]:
    """`(step, value)` of everything a run logged, by name, in order of step; a later sitting replaces what it repeats."""
    values: dict[str, dict[float, float]] = {}
    for row in rows(folder):
        step = number(row.pop("step", None))
        if step is None:
            continue
        for name, text in row.items():
            if name and name != "epoch" and (value := number(text)) is not None:
                values.setdefault(name, {})[step] = value
    return {name: sorted(points.items()) for name, points in values.items()}


def thin(curve: Curve, most: int = MOST_POINTS) -> Curve:
    """At most `most` points: means of equal stretches, so that noise is averaged and nothing is picked out."""
    if len(curve) <= most:
        return curve
    size = -(-len(curve) // most)
    pieces = [curve[start : start + size] for start in range(0, len(curve), size)]
    return [(sum(x for x, _ in piece) / len(piece), sum(y for _, y in piece) / len(piece)) for piece in pieces]


def svg(series: Mapping[str, Sequence[Curve]], title: str) -> Markup:
    """One picture of several quantities over the step, each from 0 to its own maximum, which is written beside its name.

    Args:
        series: curves (one a seed) by what they show; at most two quantities have a colour of their own.
        title: read out by screen readers.
    """
    drawn = {name: [thin(curve) for curve in curves if curve] for name, curves in series.items()}
    drawn = {name: curves for name, curves in drawn.items() if curves}
    last = max((x for curves in drawn.values() for curve in curves for x, _ in curve), default=0.0)
    parts = [f'<line x1="{MARGIN}" y1="{HEIGHT - MARGIN}" x2="{WIDTH - 4}" y2="{HEIGHT - MARGIN}" class="axis"/>']
    for index, (name, curves) in enumerate(drawn.items()):
        top = max(y for curve in curves for _, y in curve) or 1.0
        for curve in curves:
            points = " ".join(f"{_x(x, last):.1f},{_y(y, top):.1f}" for x, y in curve)
            lone = f'<circle cx="{points.partition(",")[0]}" cy="{points.partition(",")[2]}" r="2" class="dot{index}"/>'
            parts.append(f'<polyline points="{points}" class="line{index}"/>' if len(curve) > 1 else lone)
        place = f'x="{WIDTH - 6}" y="{13 + 13 * index}" text-anchor="end"'
        parts.append(f'<text {place} class="text{index}">{escape(name)}, to {top:.3g}</text>')
    parts.append(f'<text x="{WIDTH - 6}" y="{HEIGHT - 4}" class="axis-text" text-anchor="end">{last:,.0f} steps</text>')
    view = f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">'
    return Markup(view + "".join(parts) + "</svg>")


def _x(step: float, last: float) -> float:
    return MARGIN + (WIDTH - MARGIN - 6) * (step / last if last else 0.0)


def _y(value: float, top: float) -> float:
    return HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN - 16) * max(value, 0.0) / top
