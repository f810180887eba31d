"""Get data sets, check what is there, make fakes to try things with, and draw pictures of each set."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from t3cen.commands import enter, parser_of
from t3cen.data.errors import DataError
from t3cen.data.fakes import write_fakes
from t3cen.data.preparation import recipes, state
from t3cen.experiments.schema import nearest

EXAMPLES = """examples:
  t3cen data cifar10 pets          download into data/, verify, unpack
  t3cen data --check               one line for each data set: is it there, is it whole
  t3cen data --fake /tmp/fakes     tiny stand-ins in the real formats; then t3cen train data_root=/tmp/fakes
  t3cen data --picture shapes3d_hue   a picture of its training and test sets, in outputs/pictures
  t3cen data --speed shapes3d_hue camelyon   images a second: loader, network
  t3cen data shapes3d --render     write a 3dshapes.h5 of rendered images instead of downloading it
"""


def get(name: str, root: Path, options: argparse.Namespace) -> str:
    """Make one data set present; a line about it."""
    _, recipe = recipes()[name]
    if name == "camelyon" and options.parquet:
        from t3cen.data.camelyon_import import import_parquet

        return f"written to {import_parquet(options.parquet, root)}"
    if name == "kutomadata" and options.coco:
        from t3cen.data.coco_import import import_coco

        return f"written: {import_coco(options.coco, root)}"
    if name == "shapes3d" and options.render:
        from t3cen.data.shapes3d_files import FILE, write

        write(root / FILE)
        return f"rendered into {root / FILE}"
    whole, line = state(name, root)
    if whole:
        return line
    if line.startswith("damaged"):
        raise DataError(line)
    if recipe.get is None:
        raise DataError(f"cannot be downloaded. {recipe.about.replace('ROOT', str(root))}")
    recipe.get(root)
    whole, line = state(name, root)
    if not whole:
        raise DataError(line)
    return line


def speed(names: Iterable[str], root: Path, source: str | None) -> None:
    """Print what the loader delivers and what the data set's plain network consumes, at the paper's batch size and resolution."""
    import torch

    from t3cen.data.pictures import data_set
    from t3cen.data.throughput import images_per_second
    from t3cen.experiments import all_runs
    from t3cen.experiments.composition import compose
    from t3cen.training.step_time import step_seconds

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    print("data set        source      pixels  batch  workers  setup s  images/s  the plain network's images/s", flush=True)
    for name in names:
        plain = next((run for run in all_runs().values() if (run.data, run.model) == (name, "plain")), None)
        if plain is None:
            raise ValueError(f"no plain network is trained on {name!r}; name a data set of conf/data")
        config = compose(plain, "paper")
        batch = config["data"]["batch_size"]
        consumed = batch / step_seconds(config, device)
        for workers in (0, 2):
            began = time.perf_counter()
            data = data_set(name, root=root, source=source, num_workers=workers, batch_size=batch)
            data.setup()
            setup = time.perf_counter() - began
            kind = "fake" if data.is_fake else data.source
            line = f"{name:15s} {kind:10s} {data.image_size:7d} {batch:6d} {workers:8d}"
            network = f"{consumed:.{0 if consumed >= 10 else 2}f} ({config['backbone']}, {device})"
            print(f"{line} {setup:8.2f} {images_per_second(data):9.0f}  {network}", flush=True)


def main(arguments: list[str]) -> int:
    try:
        return _main(arguments)
    except (DataError, ValueError) as problem:
        sys.stderr.write(f"t3cen data: {problem}\n")
        return 1


def _main(arguments: list[str]) -> int:
    parser = parser_of("data", __doc__, epilog=EXAMPLES)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all, or any of {', '.join(recipes())}")
    parser.add_argument("--root", type=Path, default=Path("data"), help="folder of all data sets (default: data)")
    parser.add_argument("--check", action="store_true", help="only look what is there; exit status 1 unless all is complete")
    parser.add_argument(
        "--fake", type=Path, metavar="DIR", help="write tiny fakes of the named data sets (default: all) into DIR"
    )
    parser.add_argument("--picture", nargs="+", metavar="DATA", help="draw pictures of data sets, named as in conf/data")
    parser.add_argument("--speed", nargs="+", metavar="DATA", help="measure loading, at the paper's batch size and resolution")
    parser.add_argument(
        "--source", help="with --picture and --speed: files, rendered, bundled or synthetic (default: what needs no files)"
    )
    parser.add_argument("--out", type=Path, default=Path("outputs/pictures"), help="with --picture: where to")
    parser.add_argument("--parquet", type=Path, metavar="DIR", help="camelyon: import these parquet files instead of downloading")
    parser.add_argument("--coco", type=Path, metavar="DIR", help="kutomadata: cut tomatoes out of photographs with COCO boxes")
    parser.add_argument("--render", action="store_true", help="shapes3d: write the file from rendered images")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)

    if options.picture:
        from t3cen.data.pictures import draw

        for name in options.picture:
            print(draw(name, options.out, root=options.root, source=options.source))
        return 0
    if options.speed:
        speed(options.speed, options.root, options.source)
        return 0
    known = recipes()
    names = list(known) if not options.names or options.names == ["all"] else options.names
    unknown = [name for name in names if name not in known]
    if unknown:
        parser.error(f"unknown data set {unknown[0]!r}{nearest(unknown[0], known)} (data sets: {', '.join(known)})")
    if options.fake:
        write_fakes(options.fake, names)
        print(f"fakes of {', '.join(names)} are in {options.fake}; try them with data_root={options.fake}")
        return 0
    if not options.names and not options.check:
        parser.print_help()
        return 0
    failed = 0
    for name in names:
        try:
            whole, line = state(name, options.root) if options.check else (True, get(name, options.root, options))
        except DataError as error:
            whole, line = False, str(error)
        failed += not whole
        print(f"{name:14s} {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    enter("data", main)
