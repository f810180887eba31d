"""Fill the table `ablation_equivariance`: equivariance on angles and on images, by network.

t3cen equivariance                          rendered 3D Shapes, ResNet44, random weights
t3cen equivariance --images FOLDER --size 64 --backbone resnet18
"""

import shlex
import sys
from pathlib import Path

from rich.progress import track

from t3cen.analysis.commutation import commutation_error
from t3cen.commands import enter, parser_of
from t3cen.data.errors import DataError
from t3cen.experiments.schema import get_table
from t3cen.figures.networks import network
from t3cen.figures.pictures import examples
from t3cen.results import measured
from t3cen.training.provenance import code_version

TABLE = "ablation_equivariance"
FORWARD = (1, -1, -1)
"""One step along each axis: up in hue, down in saturation and luminance."""


def main(arguments: list[str]) -> int:
    parser = parser_of("equivariance", __doc__)
    parser.add_argument("--images", default="shapes3d_sat", help="a name of conf/data or a folder (default: shapes3d_sat)")
    parser.add_argument("--count", type=int, default=3, help="how many images (default: 3)")
    parser.add_argument("--size", type=int, help="height and width to resize to")
    parser.add_argument("--backbone", default="resnet44")
    parser.add_argument("--width", type=int, help="channels of the first stage; the published width by default")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"))
    options = parser.parse_args(arguments)
    try:
        images = examples(options.images, options.count, size=options.size)
    except (DataError, ValueError) as error:
        sys.stderr.write(f"t3cen equivariance: {error}\n")
        return 2
    cells: dict[str, float] = {}
    [section] = get_table(TABLE).sections
    for row in track(section.rows, description="networks", disable=not sys.stderr.isatty()):
        family, _, group = row.name.rpartition("_")
        made, _ = network(options.backbone, group, family=family or "t3cen", width=options.width)
        step = tuple(way if order > 1 else 0 for way, order in zip(FORWARD, made.lifting.group.orders, strict=True))
        found = commutation_error(made.lifting, made.trunk, images, step, translated=family == "lcer")
        values = {"angles": found.angles, "image": found.image, "sheet": 100 * found.sheet_changes}
        cells |= {measured.key("", row.name, column): value for column, value in values.items()}
    version = code_version()
    provenance = {
        "images": f"{len(images)} of {options.images}, {images.shape[-2]} x {images.shape[-1]}",
        "backbone": options.backbone,
        "command": shlex.join(["t3cen", "equivariance", *arguments]),
        "commit": f"{str(version['commit'])[:10]}{' with uncommitted changes' if version['dirty'] else ''}",
    }
    print(measured.write(options.outputs, TABLE, cells, provenance, name=f"{options.backbone}_{Path(options.images).name}"))
    return 0


if __name__ == "__main__":
    enter("equivariance", main)
