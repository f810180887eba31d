"""Which colour group suits given images, before any training.

    t3cen recommend PATH                    a folder of images, in sub-folders by class if there are classes
    t3cen recommend PATH --deployment PATH  and one from where the network will be used
    t3cen recommend --data camelyon         a data set of this project, training against its tests

A PATH that holds `train` and `deployment` (or `test`) folders needs no second one. docs/recommend.md explains the numbers.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from t3cen.analysis.recommendation import Recommendation
from t3cen.commands import enter, parser_of
from t3cen.data.errors import DataError
from t3cen.progress import Terminal
from t3cen.project import command


def main(arguments: Sequence[str]) -> int:
    options = _parse(arguments)
    console = Terminal()
    try:
        found = _look(options)
    except (ValueError, FileNotFoundError, DataError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(found.as_dict(), indent=1))
    else:
        _print(found, console)
        if options.path is not None:
            model = "model=plain" if found.group == "h1" else f"model=t3cen model.group={found.group}"
            line = f"{command('train')} data=folder data.root={shlex.quote(str(options.path))} {model}"
            console.print(f"Train it on images in folders by class: {line}", highlight=False, soft_wrap=True, markup=False)
    from t3cen.figures import recommendation, save, style

    title = options.data or str(options.path)
    with style.house_style():
        figure, numbers = recommendation.draw(found, title)
    said = shlex.join(["t3cen", "recommend", *arguments])
    paths = save.save(figure, numbers, options.output, "recommendation", command=said, config={"arguments": list(arguments)})
    print(f"figure: {paths['png']} and .pdf, .json", file=sys.stderr)
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = parser_of("recommend", __doc__)
    parser.add_argument("path", nargs="?", type=Path, help="folder of training images")
    parser.add_argument("--deployment", type=Path, help="folder of images from where the network will be used")
    parser.add_argument("--data", help="a data set of conf/data instead of a folder")
    parser.add_argument("--split", help="which of its test sets is the deployment; its first colour-shifted one by default")
    parser.add_argument("--scale", default="laptop", help="scale of the data set (default: laptop)")
    parser.add_argument("--data-root", default="data", help="folder of all data sets (default: data)")
    parser.add_argument("--limit", type=int, default=400, help="images looked at in each set (default: 400)")
    parser.add_argument("--cover", default="triangle", help="double cover of saturation and luminance (default: triangle)")
    parser.add_argument("--output", type=Path, default=Path("outputs/recommendation"), help="folder of the figure")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args(arguments)
    if (options.path is None) == (options.data is None):
        parser.error("give either a PATH or --data NAME")
    return options


def _look(options: argparse.Namespace) -> Recommendation:
    if options.data is None:
        from t3cen.analysis.folders import recommend_folder

        return recommend_folder(options.path, options.deployment, limit=options.limit, cover=options.cover)
    from t3cen.figures.recommend_data import recommend_data

    return recommend_data(
        options.data,
        options.split,
        limit=options.limit,
        scale=options.scale,
        data_root=options.data_root,
        cover=options.cover,
    )


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)


def _print(found: Recommendation, console: Console) -> None:
    axes = _table("How far images differ" if found.moves_between_images else "How far colour moves")
    for heading in ("axis", "move", "of range", "noise", "alone predicts the class", "information"):
        axes.add_column(heading, justify="left" if heading == "axis" else "right")
    for axis, move in found.moves.items():
        size, noise = (f"{360 * d:.1f}°" if axis == "hue" else f"{d:.3f}" for d in (move.distance, move.noise))
        signal = (found.signals or {}).get(axis)
        predicts = f"{signal.accuracy:.0%} (chance {signal.chance:.0%})" if signal else "–"
        axes.add_row(axis, size, f"{move.share:.1%}", noise, predicts, f"{signal.information:.0%}" if signal else "–")
    console.print(axes)
    groups = _table("Candidate groups")
    for heading in ("group", "left over", "sheets", "no hue", "repeats", "H/N", "arithmetic", "direct", "memory"):
        groups.add_column(heading, justify="left" if heading == "group" else "right", no_wrap=True)
    for c in found.candidates:
        density = "–" if c.entropy_density is None else f"{c.entropy_density:.3f}"
        cells = [f"{v:.0%}" for v in (c.left_over, c.sheet_changes, c.undefined_hue, c.redundant)]
        cost = [f"{c.cost.fourier:.2f}x", f"{c.cost.direct:.0f}x", f"{c.cost.activations:.1f}x"]
        groups.add_row(c.name.upper(), *cells, density, *cost, style="bold" if c.name == found.group else None)
    console.print(groups)
    for reason in found.reasons:
        console.print(f"• {reason}")
    for warning in found.warnings:
        console.print(f"[bold red]![/] {warning}", highlight=False)
    name = (
        "a plain network (no colour group)" if found.group == "h1" else f"T³CEN-{found.group.upper()} (model.group={found.group})"
    )
    console.print(f"[bold]Recommended: {name}[/]")


if __name__ == "__main__":
    enter("recommend", main)
