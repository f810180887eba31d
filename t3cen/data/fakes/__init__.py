"""Tiny stand-ins in the real on-disk format of every data set, made by code: to try the plumbing, and for tests.

Pictures are coloured noise with a bar that tells the class. A root with fakes holds a file FAKE, which turns published
checksums off and marks every result. What it does not turn off: pickles may build nothing but arrays.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path

from t3cen.data.files import visible

FAKE_MARK = "FAKE"
"""A file of this name in a data root says that all in it was made here."""
MAKERS = {
    "camelyon": "camelyon",
    "caltech101": "photos",
    "cars": "photos",
    "cifar10": "small",
    "cifar100": "small",
    "fashion_mnist": "small",
    "kutomadata": "photos",
    "mnist": "small",
    "pets": "photos",
    "shapes3d": "shapes3d",
    "smallnorb": "smallnorb",
    "stl10": "small",
}
"""Data sets and the file of this folder with the function of that name."""


def write_fakes(root: Path, names: Iterable[str] = tuple(MAKERS)) -> None:
    """Write fakes of the named data sets into `root`.

    Raises:
        ValueError: a name is unknown, or `root` has real data in it (anything but fakes).
    """
    names = list(names)
    unknown = [name for name in names if name not in MAKERS]
    if unknown:
        raise ValueError(f"no fake of {', '.join(unknown)}; there are {', '.join(MAKERS)}")
    if root.exists() and any(visible(root)) and not (root / FAKE_MARK).exists():
        raise ValueError(f"{root} is not empty and holds no fakes; choose a new folder, so that real data and fakes never mix")
    root.mkdir(parents=True, exist_ok=True)
    (root / FAKE_MARK).write_text(
        "Everything in this folder was made by `scripts/prepare_data.py --fake`; results on it mean nothing.\n"
    )
    for name in names:
        module = importlib.import_module(f"t3cen.data.fakes.{MAKERS[name]}")
        getattr(module, name)(root)
