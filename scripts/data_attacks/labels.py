"""Labels out of range, fractions and absent classes, in the format of every data set."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path

from data_attacks.fakes import SETS, Fakes, load


def _pickled(path: Path, change: Callable[[list], list]) -> None:
    content = pickle.loads(path.read_bytes())  # written by `Fakes`, just before
    key = "labels" if "labels" in content else "fine_labels"
    path.write_bytes(pickle.dumps({**content, key: change(content[key])}, protocol=2))


def _bytes(path: Path, start: int, change: Callable[[list], list]) -> None:
    content = path.read_bytes()
    path.write_bytes(content[:start] + bytes(int(label) % 256 for label in change(list(content[start:]))))


def _lines(path: Path, column: int, separator: str, head: int, change: Callable[[list], list]) -> None:
    rows = [line.split(separator) for line in path.read_text().splitlines()]
    for row, value in zip(rows[head:], change([int(row[column]) for row in rows[head:]]), strict=True):
        row[column] = str(value)
    path.write_text("\n".join(separator.join(row) for row in rows) + "\n")


def _mat(path: Path, change: Callable[[list], list]) -> None:
    from scipy.io import loadmat, savemat

    rows = loadmat(path)["annotations"]
    for row, label in zip(rows[0], change([int(row["class"].item()) for row in rows[0]]), strict=True):
        row["class"] = label
    savemat(path, {"annotations": rows})


def _column(path: Path, name: str, change: Callable[[list], list]) -> None:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    changed = pyarrow.array(change(table[name].to_pylist()))
    pyarrow.parquet.write_table(table.set_column(table.column_names.index(name), name, changed), path)


Rewrite = Callable[[Callable[[list], list]], None]
"""Replaces the labels of a file by what a function makes of them."""


def _where(name: str, folder: Path, rng: random.Random) -> tuple[int, int, Rewrite]:
    """A place of numbers that decide a label or a set: the lowest and highest that is right, and how to change them."""
    if name in ("mnist", "fashion_mnist"):
        idx = folder / "raw" / rng.choice(("train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"))
        return 0, 9, partial(_bytes, idx, 8)
    if name == "smallnorb":
        column, high = rng.choice((("category", 4), ("lighting", 5)))
        return 0, high, partial(_column, rng.choice(sorted(folder.glob("*.parquet"))), column)
    if name == "camelyon":
        column, high = rng.choice(((5, 1), (6, 49), (7, 4), (8, 1)))
        return 0, high, partial(_lines, folder / "metadata.csv", column, ",", 1)
    if name == "pets":
        return 1, 37, partial(_lines, folder / "annotations" / rng.choice(("trainval.txt", "test.txt")), 1, " ", 0)
    if name == "cars":
        return 1, 196, partial(_mat, folder / "cars_test_annos_withlabels.mat")
    if name == "stl10":
        return 1, 10, partial(_bytes, folder / rng.choice(("train_y.bin", "test_y.bin")), 0)
    file, high = {"cifar10": ("test_batch", 9), "cifar100": ("test", 99)}[name]
    return 0, high, partial(_pickled, folder / file)


def labels(folder: Path, cases: int) -> Iterator[tuple[str, Callable[[], bool]]]:
    names = tuple(name for name in SETS if name not in ("caltech101", "folder", "kutomadata"))  # there labels are folders
    fakes = Fakes(folder, names)
    for case, name in enumerate(islice(cycle(names), cases)):
        rng = random.Random(case)
        root, place = fakes.copy(name)
        low, high, rewrite = _where(name, place, rng)
        wrong = rng.choice((low - 1, high + 1, 200, 255, "absent", "half"))
        if wrong == "half" and name not in ("cifar10", "cifar100", "smallnorb", "pets"):
            wrong = high + 1  # formats of whole numbers hold no halves
        if wrong == "absent" and name == "camelyon":
            rewrite, high = partial(_lines, place / "metadata.csv", rng.choice((5, 7)), ",", 1), 1  # a slide may be absent

        def change(values: list, wrong: object = wrong, rng: random.Random = rng) -> list:
            if wrong == "absent":
                gone = values[0]
                other = next(value for value in values if value != gone) if len(set(values)) > 1 else 77
                return [other if value == gone else value for value in values]
            values = list(values)
            values[rng.randrange(len(values))] = values[0] + 0.5 if wrong == "half" else wrong
            return values

        def act(name: str = name, root: Path = root, rewrite: Rewrite = rewrite, change: Callable = change) -> bool:
            rewrite(change)
            load(name, root)
            return False

        yield f"{name} {wrong} of {low}..{high}", act
