"""What must not be believed: pickles, and files that were made from others."""

from __future__ import annotations

import os
import pickle
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np
import torch
from data_attacks.fakes import Fakes, load

from t3cen.data.checksums import checksum
from t3cen.data.shapes3d_files import unpacked


class _Call:
    """Pickled, a call of anything with anything."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple:
        return self.call


def pickles(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    fakes = Fakes(folder, ("cifar10", "cifar100"))
    for case in range(cases):
        name = ("cifar10", "cifar100")[case % 2]
        root, place = fakes.copy(name)
        path = place / ("data_batch_1", "train", "test_batch", "test")[case % 4]
        ran = folder / f"ran{case}"
        payload = (
            _Call(os.system, f"touch {ran}"),
            _Call(eval, f"open({str(ran)!r}, 'w').close()"),
            _Call(exec, f"open({str(ran)!r}, 'w').close()"),
            _Call(os.mkdir, str(ran)),
            _Call(shutil.copyfile, str(path), str(ran)),
        )[case % 5]
        content = pickle.loads(path.read_bytes())  # written by `Fakes`, just before
        content = (
            payload if case % 3 == 0 else {**content, "filenames": payload} if case % 3 == 1 else {**content, "data": payload}
        )
        path.write_bytes(pickle.dumps(content, protocol=case % 6))

        def act(name: str = name, root: Path = root, ran: Path = ran) -> bool:
            try:
                load(name, root)
            finally:
                if ran.exists():
                    raise RuntimeError("code ran")
            return False

        yield f"{name} {payload.call[0]}", act


def blocks(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Blocks of 480 images of a small file of the same schema; after every damage the block must hold its source's images."""
    rows = torch.arange(480)

    def write(path: Path, seed: int) -> np.ndarray:
        images = np.random.default_rng(seed).integers(0, 4, (480, 64, 64, 3), dtype=np.uint8)
        with h5py.File(path, "w") as file:
            file["images"] = images
        return images

    for case in range(cases):
        rng = random.Random(case)
        root = folder / f"blocks{case}"
        shutil.rmtree(folder / f"blocks{case - 1}", ignore_errors=True)
        root.mkdir()
        source = root / "3dshapes.h5"
        truth = write(source, case)
        made = unpacked(source, checksum(source, "sha256"), "A", rows)
        damage = rng.choice(("flip", "cut", "longer", "empty", "source changed", "source changed, renamed", "block renamed"))
        content = bytearray(made.read_bytes())
        if damage == "flip":
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            made.write_bytes(content)
        elif damage in ("cut", "longer", "empty"):
            made.write_bytes({"cut": content[: rng.randrange(len(content))], "longer": content + b"0", "empty": b""}[damage])
        elif damage == "block renamed":
            made.rename(made.with_name(made.name.replace("blockA", "blockB")))
        else:
            truth = write(source, case + 1000)
            if damage.endswith("renamed"):
                new = checksum(source, "sha256")[:16]
                made.rename(made.with_name(f"3dshapes_blockA_{new}_{rng.randrange(16**16):016x}.npy"))
        when = rng.choice((0, 10**9, 2 * 10**9))
        for path in root.iterdir():
            os.utime(path, (when, when))

        def act(source: Path = source, truth: np.ndarray = truth) -> bool:
            block = unpacked(source, checksum(source, "sha256"), "A", rows)
            return bool((np.load(block) == truth).all()) and not list(source.parent.glob("*.part"))

        yield damage, act
