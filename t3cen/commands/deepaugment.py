"""Make DeepAugment's training pictures: t3cen deepaugment data=<name> [KEY=VALUE ...] [options]

    t3cen deepaugment data=cifar10
    t3cen deepaugment data=pets data_root=/datasets --steps 3000

A small autoencoder is trained on the training split, then every training picture goes through it twice: with disturbed
weights and with disturbed activations. They lie in `<data_root>/deepaugment/<name>`, where `augment=deepaugment` reads them.
Stopped half way, the same command goes on. Overrides are those of `t3cen train`.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from hydra import compose, initialize_config_dir
from hydra.errors import HydraException
from hydra.utils import instantiate
from rich.progress import track

from t3cen.augment.deepaugment import folder_of
from t3cen.augment.generate import generate
from t3cen.commands import enter, parser_of
from t3cen.data.errors import DataError
from t3cen.project import conf_dir


def main(arguments: Sequence[str]) -> int:
    parser = parser_of("deepaugment", __doc__)
    parser.add_argument("overrides", nargs="+", help="data=<name>, and any other setting of t3cen train")
    parser.add_argument("--steps", type=int, default=1000, help="training steps of the autoencoder (default: %(default)s)")
    parser.add_argument("--largest", type=int, default=256, help="shorter side at most, in pixels (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the autoencoder and the noise (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=None, help="processor threads")
    options = parser.parse_intermixed_args(arguments)
    names = [override.removeprefix("data=") for override in options.overrides if override.startswith("data=")]
    if len(names) != 1:
        parser.error(f"name one data set, as in data=cifar10; got {' '.join(options.overrides)}")
    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        with initialize_config_dir(str(conf_dir()), version_base="1.3"):
            config = compose("train", options.overrides)
        items = instantiate(config.data).splits.train
        folder = folder_of(names[0], config.data_root)
        error = generate(
            items.source,
            items.indices.tolist(),
            folder,
            steps=options.steps,
            largest=options.largest,
            seed=options.seed,
            progress=_progress,
        )
    except (DataError, HydraException, ValueError) as problem:
        print(problem, file=sys.stderr)
        return 1
    print(f"{len(items)} pictures, two variants each, in {folder}; the undisturbed autoencoder is off by {error:.1%} (RMS)")
    return 0


def _progress(items: Sequence[Any], what: str) -> Iterable[Any]:
    """A bar on a terminal, a line at every tenth in a file."""
    if sys.stdout.isatty():
        yield from track(items, what)
        return
    for number, item in enumerate(items):
        if number % max(1, len(items) // 10) == 0:
            print(f"{what}: {number} of {len(items)}", flush=True)
        yield item


if __name__ == "__main__":
    enter("deepaugment", main)
