"""Training memory and speed by group, T3CEN directly and by Fourier, LCER and CEConv (paper, tab:training_expense)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from t3cen.analysis.training_cost import Setting, measure
from t3cen.experiments.schema import get_table
from t3cen.figures.style import BLACK, BLUE, GREEN, ORANGE, PINK, canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "training_cost"
PROTOCOLS: dict[str, dict[str, Any]] = {
    # The paper's iterations; resolution and batch are ours, and reproduce its memory (docs/fidelity.md).
    "paper": {"image_size": 96, "batch_size": 16, "dropped": 100, "averaged": 100, "limit": 3600.0},
    # A step of a small group is milliseconds and of a large one seconds, so the laptop's limit is on both.
    "laptop": {"image_size": 32, "batch_size": 8, "dropped": 2, "averaged": 50, "seconds": 8.0, "limit": 180.0},
    "smoke": {"image_size": 16, "batch_size": 2, "dropped": 1, "averaged": 1, "limit": 60.0, "width": 8},
}
LCER_GROUPS = {"h4": "h4", "s4": "s3", "l4": "l3", "h4s4": "h4s3", "h4l4": "h4l3"}
"""What stands for a group where the network is LCER: it has odd orders of saturation or luminance, never both."""
SERIES: dict[str, dict[str, Any]] = {
    "T³CEN, Fourier": {"family": "t3cen", "backend": "fourier", "color": BLUE, "hatch": ""},
    "T³CEN, direct": {"family": "t3cen", "backend": "direct", "color": GREEN, "hatch": "///"},
    "LCER, order 3 of S and L": {"family": "lcer", "backend": "auto", "color": ORANGE, "hatch": "...", "groups": LCER_GROUPS},
    "CEConv": {"family": "ceconv", "backend": "auto", "color": PINK, "hatch": "xxx", "groups": {"h4": "h4"}},
}
"""Label, network and look of each bar, and the groups that the family has, where these are not all."""
QUANTITIES = {"memory": ("memory_mib", "memory (MiB)"), "speed": ("iterations_per_second", "iterations per second")}


def draw(
    protocol: str,
    groups: Sequence[str] = ("h1", "h4", "s4", "l4", "h4s4", "h4l4", "h4s4l4"),
    device: str | None = None,
    threads: int | None = None,
    **changes: Any,
) -> tuple[Figure, dict[str, Any]]:
    """Bars per group, above memory, below speed, on logarithmic axes; diamonds are the paper's numbers on its GPU.

    Args:
        protocol: `paper`, `laptop` or `smoke`: resolution, batch and iterations, printed above the bars.
        groups: the columns of the table. `h1` is the plain network, measured once for all. LCER has odd orders of saturation
            and luminance only, so its bars are of order 3 there; CEConv has hue alone.
        device: `cuda` or `cpu`; None takes the GPU if there is one.
        threads: of the processor.
        changes: to the protocol, for instance `averaged=10`.
    """
    import torch

    if protocol not in PROTOCOLS:
        raise ValueError(f"protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}")
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    settings = {**PROTOCOLS[protocol], **changes}
    limit = settings.pop("limit")
    machine = {"device": device, "threads": threads, **settings}
    plain = measure(Setting(group="", family="plain", **machine), limit) if "h1" in groups else {}
    found: dict[str, dict[str, Any]] = {}
    for label, series in SERIES.items():
        found[label] = {"h1": plain} if plain else {}
        for group in groups:
            own = series.get("groups", {group: group}).get(group)
            if group != "h1" and own is not None:
                setting = Setting(group=own, family=series["family"], backend=series["backend"], **machine)
                found[label][group] = measure(setting, limit)
    name = next((m["device"] for row in found.values() for m in row.values() if "device" in m), device)
    numbers: dict[str, Any] = {"protocol": settings, "device": name, "measured": found, "published": _published()}
    numbers["setting"] = _setting(settings)
    numbers["tables"] = {TABLE: _cells(found)}
    return _figure(numbers, groups), numbers


def _setting(protocol: Mapping[str, Any]) -> str:
    """What is trained and how it is averaged, in one line."""
    averaged = f"{protocol['averaged']} iteration{'s' if protocol['averaged'] > 1 else ''}"
    if protocol.get("seconds"):
        averaged = f"up to {averaged} or {protocol['seconds']:g} s"
    width = f" of width {protocol['width']}" if protocol.get("width") else ""
    size = f"{protocol['image_size']} × {protocol['image_size']} pixels, batch {protocol['batch_size']}"
    return f"ResNet18{width}, {size}, {averaged} after {protocol['dropped']}"


def _published() -> dict[str, dict[str, dict[str, float]]]:
    """The paper's numbers: quantity, row, group."""
    known: dict[str, dict[str, dict[str, float]]] = {}
    for section, row, column, cell in get_table(TABLE).cells():
        if cell is not None and cell.replace(".", "").isdigit():
            known.setdefault(section.name, {}).setdefault(row.name, {})[column.key] = float(cell)
    return known


def _cells(found: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Cells of the table; the direct way has none, and of LCER those at order 3 are a row of their own."""
    cells: dict[str, float] = {}
    for label, series in SERIES.items():
        if series["backend"] == "direct":
            continue
        for group, measured in found[label].items():
            other = series["family"] == "lcer" and group != "h1" and LCER_GROUPS[group] != group
            place = f"{series['family']}{'_odd' if other else ''}/{group}"
            cells |= {f"{quantity}/{place}": measured[key] for quantity, (key, _) in QUANTITIES.items() if key in measured}
    return cells


def _figure(numbers: Mapping[str, Any], groups: Sequence[str]) -> Figure:
    figure = canvas(12.5, 7)
    grid = figure.subplots(2, 1, sharex=True)
    for axes, (quantity, (key, label)) in zip(grid, QUANTITIES.items(), strict=True):
        for at, (name, series) in enumerate(SERIES.items()):
            values: dict[int, Any] = {
                place: numbers["measured"][name].get(group, {}).get(key) for place, group in enumerate(groups)
            }
            known = {place: value for place, value in values.items() if value}
            places: list[float] = [place + 0.21 * (at - 1.5) for place in known]
            axes.bar(places, known.values(), 0.19, color=series["color"], hatch=series["hatch"], edgecolor="white", label=name)
            for place in set(values) - set(known):
                axes.annotate("–", (place + 0.21 * (at - 1.5), 0), xycoords=("data", "axes fraction"), ha="center", va="bottom")
            for middle, value in zip(places, list(known.values()), strict=True):
                text = f"{value:.2g}" if value < 10 else f"{value:.0f}"
                axes.annotate(text, (middle, value), (0, 2), textcoords="offset points", ha="center", fontsize=9)
        published = numbers["published"][quantity]["t3cen"]
        spots = [(place - 0.46, published[group]) for place, group in enumerate(groups) if group in published]
        if spots:
            label_of_paper = "paper: T³CEN on an NVIDIA L40, likely 96 × 96, batch 16"
            axes.plot(*zip(*spots, strict=True), "D", color=BLACK, markerfacecolor="white", label=label_of_paper, zorder=5)
        axes.set_yscale("log")
        axes.set_ylabel(label)
        axes.margins(y=0.15)
        axes.set_xlim(-0.65, len(groups) - 0.45)
    grid[1].set_xticks(range(len(groups)), [group.upper() for group in groups])
    grid[0].set_title(f"{numbers['setting']}, on {numbers['device']}", loc="left", fontsize=12)
    handles, labels = grid[0].get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda at: labels[at] not in SERIES)  # the paper's come first otherwise
    figure.legend([handles[at] for at in order], [labels[at] for at in order], loc="outside lower center", ncols=4)
    return figure
