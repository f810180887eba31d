"""How each data set is got, and whether it is there: what `scripts/prepare_data.py` does."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import t3cen.data
from t3cen.data.download import Remote, extract, fetch, gunzip, verify, whole_folder
from t3cen.data.errors import DataError, MissingData, unwritable

DOWNLOADS = "downloads"
"""Folder under the data root where archives are kept."""


@dataclass(frozen=True)
class Recipe:
    """A data set, as far as its files go.

    Attributes:
        dataset: class in `t3cen.data`, and arguments that read all of its files.
        get: fetches it into the data root, or None where nobody can.
        where: what it is, its size and licence; and the manual steps where `get` is None.
        files: files under the root with a checksum worth checking beyond what loading does.
    """

    dataset: tuple[str, dict[str, Any]]
    get: Callable[[Path], None] | None
    where: str
    files: tuple[tuple[str, Remote], ...] = ()


def _idx(root: Path, folder: str, mirrors: tuple[str, ...], md5s: dict[str, str], installed: Path | None = None) -> None:
    for name, md5 in md5s.items():
        target = root / folder / "raw" / name
        if target.exists():
            continue
        packed = f"{name}.gz"
        local = installed / packed if installed is not None else None
        if local is None or not local.exists():
            remote = Remote(tuple(mirror + packed for mirror in mirrors), md5=md5)
            local = fetch(remote, root / DOWNLOADS / folder / packed)
        gunzip(local, target)


def _archive(root: Path, remote: Remote, folder: str) -> None:
    """An archive whose single top folder is the data set's."""
    packed = fetch(remote, root / DOWNLOADS / remote.name)

    def fill(temporary: Path) -> None:
        extract(packed, temporary)
        inner = temporary / folder
        if not inner.is_dir():
            raise DataError(f"{packed} holds no folder {folder}")
        for path in list(inner.iterdir()):
            path.rename(temporary / path.name)
        inner.rmdir()

    whole_folder(root / folder, fill)


def _caltech(root: Path) -> None:
    packed = fetch(CALTECH, root / DOWNLOADS / CALTECH.name)

    def fill(temporary: Path) -> None:
        extract(packed, temporary)
        extract(temporary / "caltech-101" / "101_ObjectCategories.tar.gz", temporary)
        shutil.rmtree(temporary / "caltech-101")

    whole_folder(root / "caltech101", fill)


def _pets(root: Path) -> None:
    packed = [fetch(remote, root / DOWNLOADS / "pets" / remote.name) for remote in PETS]

    def fill(temporary: Path) -> None:
        for archive in packed:
            extract(archive, temporary)

    whole_folder(root / "oxford-iiit-pet", fill)


def _hub(repository: str, folder: Path) -> None:
    from huggingface_hub import snapshot_download

    try:
        snapshot_download(repository, repo_type="dataset", local_dir=folder, allow_patterns=["*.parquet"])
    except Exception as error:  # of the hub, of whichever network library it uses, or of the disk
        if isinstance(error, OSError) and error.errno is not None:
            raise unwritable(folder, error) from error
        said = " ".join(str(error).split())
        raise DataError(f"{repository} could not be downloaded from Hugging Face ({said}); what has come is kept") from error


def _shapes3d(root: Path) -> None:
    fetch(SHAPES3D, root / "3dshapes.h5")


def _camelyon(root: Path) -> None:
    from t3cen.data.camelyon_import import HUB, import_parquet

    _hub(HUB, root / DOWNLOADS / "camelyon")
    import_parquet(root / DOWNLOADS / "camelyon", root)


MNIST_MD5 = {
    "train-images-idx3-ubyte": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte": "ec29112dd5afa0611ce80d1b7f02629c",
}
FASHION_MD5 = {
    "train-images-idx3-ubyte": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
    "train-labels-idx1-ubyte": "25c81989df183df01b3e8a0aad5dffbe",
    "t10k-images-idx3-ubyte": "bef4ecab320f06d8554ea6380940ec79",
    "t10k-labels-idx1-ubyte": "bb300cfdad3c16e7a12a480ee83cd310",
}
MNIST_MIRRORS = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "http://yann.lecun.com/exdb/mnist/")
FASHION_MIRRORS = ("http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",)
FASHION_INSTALLED = Path("/usr/share/datasets/fashion-mnist")
CIFAR10 = Remote(("https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",), 170_498_071, "c58f30108f718f92721af3b95e74349a")
CIFAR100 = Remote(("https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",), None, "eb9058c3a382ffc7106e4002c42a8d85")
STL10 = Remote(("http://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz",), 2_640_397_119, "91f7769df0f17e558f3565bffb0c7dfb")
CALTECH = Remote(
    ("https://data.caltech.edu/records/mzrjq-6wc02/files/caltech-101.zip",), 137_414_764, "3138e1922a9193bfa496528edbbc45d0"
)
PETS_HOSTS = ("https://www.robots.ox.ac.uk/~vgg/data/pets/data/", "https://thor.robots.ox.ac.uk/~vgg/data/pets/")
PETS = (
    Remote(tuple(f"{host}images.tar.gz" for host in PETS_HOSTS), 791_918_971, "5c4f3ee8e5d25df40f4fd59a7f44e54c"),
    Remote(tuple(f"{host}annotations.tar.gz" for host in PETS_HOSTS), 19_173_078, "95a8c909bbe2e81eed6a22bccdf3f68f"),
)
SHAPES3D = Remote(
    ("https://storage.googleapis.com/3d-shapes/3dshapes.h5",),
    267_573_662,
    sha256="0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785",
)

RECIPES: dict[str, Recipe] = {
    "mnist": Recipe(
        ("MNIST", {}), partial(_idx, folder="MNIST", mirrors=MNIST_MIRRORS, md5s=MNIST_MD5), "handwritten digits, 12 MB"
    ),
    "fashion_mnist": Recipe(
        ("MNIST", {"digits": "fashion"}),
        partial(_idx, folder="FashionMNIST", mirrors=FASHION_MIRRORS, md5s=FASHION_MD5, installed=FASHION_INSTALLED),
        "clothing, 31 MB, MIT; Debian's package dataset-fashion-mnist is used where it is installed",
    ),
    "shapes3d": Recipe(
        ("Shapes3D", {}),
        _shapes3d,
        "3D Shapes, 268 MB, Apache-2.0; 2.2 GB more when its blocks are unpacked at first use",
        (("3dshapes.h5", SHAPES3D),),
    ),
    "smallnorb": Recipe(
        ("SmallNORB", {}),
        lambda root: _hub("Ramos-Ramos/smallnorb", root / "smallnorb"),
        "small NORB from Hugging Face, 236 MB, research use",
    ),
    "camelyon": Recipe(
        ("Camelyon", {}),
        _camelyon,
        "Camelyon17-WILDS from its copy at Hugging Face, about 10 GB and as much again when imported, CC0 "
        "(its own host has been down); files already here: --parquet FOLDER",
    ),
    "cifar10": Recipe(("CIFAR10", {}), partial(_archive, remote=CIFAR10, folder="cifar-10-batches-py"), "170 MB"),
    "cifar100": Recipe(("CIFAR100", {}), partial(_archive, remote=CIFAR100, folder="cifar-100-python"), "169 MB"),
    "stl10": Recipe(("STL10", {}), partial(_archive, remote=STL10, folder="stl10_binary"), "2.6 GB"),
    "caltech101": Recipe(("Caltech101", {}), _caltech, "137 MB, CC BY 4.0"),
    "pets": Recipe(("Pets", {}), _pets, "811 MB, CC BY-SA 4.0"),
    "cars": Recipe(
        ("Cars", {}),
        None,
        "Stanford Cars, about 2 GB: its host is gone, and torchvision cannot download it either. By hand, into "
        "ROOT/stanford_cars: (1) cars_train/ and cars_test/ with NNNNN.jpg, for instance from Kaggle's "
        "jessicali9530/stanford-cars-dataset (there one folder too deep); (2) devkit/ from car_devkit.tgz, attached to "
        "github.com/pytorch/vision/issues/7545; (3) cars_test_annos_withlabels.mat, linked in the same thread, beside devkit/ "
        "and not in it",
    ),
    "kutomadata": Recipe(
        ("KUTomaData", {}),
        None,
        "KUTomaData (Khan et al. 2023, doi 10.1038/s41598-023-50129-w): no public download is known; ask its authors. By hand: "
        "ROOT/kutomadata/{train,test}/{ripe,unripe}/*.jpg. Photographs with COCO boxes are cut up by --coco FOLDER "
        "(FOLDER/annotations/{train,test}.json and FOLDER/{train,test}/); Laboro Tomato (github.com/laboroai/LaboroTomato) is a "
        "public stand-in",
    ),
}


def state(name: str, root: Path) -> tuple[bool, str]:
    """Whether a data set is there and whole, and a line about it: `complete`, `incomplete`, `damaged` or `missing`, and why."""
    recipe = RECIPES[name]
    class_name, arguments = recipe.dataset
    try:
        data = getattr(t3cen.data, class_name)(root=root, **arguments)
        if not data.is_fake:
            for file, remote in recipe.files:
                if (root / file).exists():
                    verify(remote, root / file)
        data.setup()
        data.check()
    except MissingData as error:
        return False, f"missing: {error.what} (looked for {error.where})"
    except DataError as error:
        return False, f"damaged: {error}"
    sizes = ", ".join(f"{part} {size:,}" for part, size in data.provenance["sizes"].items())
    if data.is_fake:
        return True, f"fake: {sizes}"
    if not data.provenance.get("complete", True):
        return False, f"incomplete: {data.provenance['incomplete']}"
    return True, f"complete: {sizes}"
