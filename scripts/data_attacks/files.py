"""Files that are damaged, missing, of another data set, or left by macOS."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import cycle, islice, product
from pathlib import Path

import numpy as np
from data_attacks.fakes import FOLDERS, Fakes, checked, load
from PIL import Image

from t3cen.data.errors import DataError
from t3cen.data.fakes import FAKE_MARK
from t3cen.data.idx import write_idx


def check(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    names = ("kutomadata", "pets", "camelyon")
    fakes = Fakes(folder, names)
    damages = ("zero", "cut", "text", "missing", "folder", "noise", "another size")
    for case, (name, damage) in enumerate(islice(cycle(product(names, damages)), cases)):
        rng = random.Random(case)
        if (damage == "another size" and name != "camelyon") or (damage == "missing" and name == "kutomadata"):
            continue  # photographs have any size, and KUTomaData any number of them
        root, place = fakes.copy(name)
        path = rng.choice(sorted(p for p in place.rglob("*") if p.suffix in (".jpg", ".png")))
        content = path.read_bytes()
        path.unlink()
        if damage == "folder":
            path.mkdir()
        elif damage == "another size":
            Image.new("RGB", (rng.randrange(1, 96), 96)).save(path)
        elif damage != "missing":
            half = content[: rng.randrange(len(content) * 9 // 10)]
            path.write_bytes(
                {"zero": b"", "cut": half, "text": b"<html>404</html>", "noise": rng.randbytes(len(content))}[damage]
            )

        def act(name: str = name, root: Path = root) -> bool:
            return not checked(name, root)

        yield f"{name} {damage} {path.name}", act


def listed(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    from t3cen.data.checksums import write_list  # here: the first version has no such lists

    fakes = Fakes(folder, ("pets", "kutomadata"))
    for case in range(cases):
        rng = random.Random(case)
        name = ("pets", "kutomadata")[case % 2]
        root, place = fakes.copy(name)
        write_list(place)
        path = rng.choice(sorted(path for path in place.rglob("*") if path.is_file()))
        content = bytearray(path.read_bytes())
        at, bit = rng.randrange(len(content)), rng.randrange(8)
        content[at] ^= 1 << bit
        path.write_bytes(content)
        yield f"{name} {path.name}, byte {at}, bit {bit}", lambda name=name, root=root: not checked(name, root)


def noise(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    for case in range(cases):
        name = ("mnist", "fashion_mnist")[case % 2]
        root = folder / f"noise{case}"
        raw = root / FOLDERS[name] / "raw"
        raw.mkdir(parents=True)
        rng = np.random.default_rng(case)
        for part, count in (("train", 60_000), ("t10k", 10_000)):
            write_idx(raw / f"{part}-images-idx3-ubyte", rng.integers(0, 256, (count, 28, 28), dtype=np.uint8))
            write_idx(raw / f"{part}-labels-idx1-ubyte", np.arange(count) % 10)

        def act(name: str = name, root: Path = root) -> bool:
            return not checked(name, root)

        yield name, act


def hidden(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    names = islice(FOLDERS, cases)
    fakes = Fakes(folder)
    for name in names:
        root, place = fakes.copy(name)
        before = load(name, root).provenance["fingerprint"]
        for inner in [root, place, *(path for path in place.rglob("*") if path.is_dir())]:
            for path in [path for path in inner.iterdir() if path.name != FAKE_MARK][:3]:
                (inner / f"._{path.name}").write_bytes(b"\x00\x05\x16\x07" + bytes(60))
            (inner / ".DS_Store").write_bytes(b"\x00\x00\x00\x01Bud1")

        def act(name: str = name, root: Path = root, before: str = before) -> bool:
            try:
                return bool(load(name, root).provenance["fingerprint"] == before)
            except DataError:
                return False  # to refuse is wrong here

        yield name, act
