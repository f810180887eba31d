"""Making DeepAugment's pictures: an autoencoder trained on the training pictures, disturbed anew for every picture."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from torchvision.transforms import v2

from t3cen.augment.autoencoder import ImageToImage, train
from t3cen.augment.deepaugment import MANIFEST, VARIANTS, Pictures, fingerprints, picture_path
from t3cen.augment.images import to_float
from t3cen.augment.network_noise import disturbed
from t3cen.data.randomness import generator

AUTOENCODER = "autoencoder.pt"
Progress = Callable[[Sequence[Any], str], Iterable[Any]]


def silent(items: Sequence[Any], what: str) -> Iterable[Any]:
    """Progress nobody is told of."""
    return items


def generate(
    pictures: Pictures,
    indices: Sequence[int],
    folder: Path,
    *,
    steps: int = 1000,
    batch_size: int = 16,
    crop: int = 64,
    largest: int = 256,
    seed: int = 0,
    progress: Progress = silent,
) -> float:
    """Fill `folder` with both variants of every training picture; what is there already stays.

    Every file is written whole or not at all, and the manifest last, so that the same call goes on where it stopped. A
    picture's noise depends on (seed, variant, index) alone.

    Args:
        pictures: the originals, uint8.
        indices: the training pictures among them.
        steps, batch_size, crop: of the autoencoder's training, on random crops of at most `crop` pixels.
        largest: pictures whose shorter side is longer are made smaller, to this.
        progress: wraps a sequence to show how far it is, given what is being done.

    Returns:
        the autoencoder's root-mean-square error, RGB in [0, 1].

    Raises:
        ValueError: nothing to do, or the folder was begun with other settings or pictures.
    """
    if not indices or steps < 1:
        raise ValueError(f"DeepAugment needs pictures and training steps, got {len(indices)} pictures and {steps} steps")
    settings = {"steps": steps, "batch_size": batch_size, "crop": crop, "largest": largest, "seed": seed}
    made_from = {"settings": settings, "fingerprints": fingerprints(pictures, indices)}
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / AUTOENCODER
    network = ImageToImage()
    if state.exists():
        saved = torch.load(state, weights_only=True)
        if saved["made_from"] != made_from:
            changed = [key for key in made_from if saved["made_from"][key] != made_from[key]]
            raise ValueError(
                f"{folder} was begun with other {' and '.join(changed)}, its settings were {saved['made_from']['settings']}; "
                "ask for the same ones, or move it away"
            )
        error = saved["error"]
        network.load_state_dict(saved["network"])
    else:
        network, error = _autoencoder(pictures, indices, progress(range(steps), "training the autoencoder"), settings)
        saved = {"network": network.state_dict(), "error": error, "made_from": made_from}
        _write(state, partial(torch.save, saved))
    for number, variant in enumerate(VARIANTS):
        (folder / variant).mkdir(exist_ok=True)
        for index in progress(indices, f"disturbing {variant}"):
            path = picture_path(folder, variant, index)
            if not path.exists():
                image = to_float(_limited(pictures.picture(index), largest))
                _write(path, partial(_save, disturbed(network, image, variant, generator(seed, 1 + number, index))))
    manifest = {"count": len(indices), "variants": VARIANTS, "autoencoder_error": error, **made_from}
    _write(folder / MANIFEST, partial(Path.write_text, data=json.dumps(manifest, indent=1) + "\n"))
    return error


def _autoencoder(
    pictures: Pictures, indices: Sequence[int], steps: Iterable[int], settings: dict[str, int]
) -> tuple[ImageToImage, float]:
    rng = generator(settings["seed"], 0)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(settings["seed"])
        network = ImageToImage()

    def crops() -> Iterator[Tensor]:
        for _ in steps:
            chosen = torch.randint(len(indices), (settings["batch_size"],), generator=rng).tolist()
            images = [to_float(_limited(pictures.picture(indices[i]), settings["largest"])) for i in chosen]
            side = min(settings["crop"], *(min(image.shape[1:]) for image in images))
            yield torch.stack([_crop(image, side, rng) for image in images])

    return network, train(network, crops())


def _crop(image: Tensor, side: int, rng: torch.Generator) -> Tensor:
    top, left = (int(torch.randint(length - side + 1, (), generator=rng)) for length in image.shape[1:])
    return image[:, top : top + side, left : left + side]


def _limited(picture: Tensor, largest: int) -> Tensor:
    return v2.functional.resize(picture, [largest], antialias=True) if min(picture.shape[1:]) > largest else picture


def _save(picture: Tensor, path: Path) -> None:
    pixels = (picture * 255).round().byte().permute(1, 2, 0).numpy()
    Image.fromarray(pixels).save(path, format="PNG")


def _write(path: Path, write: Callable[[Path], Any]) -> None:
    """`path` is written whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}.")
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
