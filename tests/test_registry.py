"""Things are known by being in the folder of their kind, and nothing is imported before somebody asks."""

import subprocess
import sys

import pytest

from t3cen.registry import Registry


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A package whose modules register a class and a function each."""
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from t3cen.registry import Registry\nGOODS = Registry('shop')\ndef __getattr__(name):\n    return GOODS.exported(name)\n"
    )
    (package / "pears.py").write_text("from shop import GOODS\n@GOODS.register\nclass Pear: ...\n")
    (package / "apples.py").write_text("from shop import GOODS\n@GOODS.register\ndef apple(): ...\nGOODS.add('quince', 3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    import shop

    yield shop
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop"]:
        del sys.modules[name]


def test_modules_are_found_by_being_there_when_somebody_asks(shop):
    assert "shop.pears" not in sys.modules
    assert sorted(shop.GOODS) == ["Pear", "apple", "quince"]
    assert len(shop.GOODS) == 3
    assert shop.GOODS["quince"] == 3
    with pytest.raises(KeyError):
        shop.GOODS["plum"]


def test_classes_are_attributes_of_the_package_and_submodules_stay_apart(shop):
    with pytest.raises(AttributeError, match=r"^shop has no 'plums'$"):
        _ = shop.plums
    assert "shop.pears" not in sys.modules
    assert shop.Pear.__module__ == "shop.pears"
    with pytest.raises(AttributeError, match="shop has no 'Plum'; it has Pear, apple, quince"):
        _ = shop.Plum


def test_a_name_is_taken_once():
    registry = Registry("shop")
    registry.add("pear", 1)
    with pytest.raises(ValueError, match="shop: 'pear' is registered already"):
        registry.add("pear", 2)


@pytest.mark.slow
def test_libraries_are_imported_where_they_are_used():
    heavy = {"datasets", "h5py", "kornia", "mlxtend", "pandas", "pyarrow", "wandb", "wilds"}
    stages = {
        "import t3cen.data, t3cen.augment; from t3cen.data import shifts": {"pytorch_lightning", "torchvision"} | heavy,
        "list(t3cen.augment.AUGMENTATIONS)": {"pytorch_lightning"} | heavy,
        "list(t3cen.data.DATA_SETS)": heavy,
    }
    code = "; ".join(f"{stage}; print(*sys.modules)" for stage in stages)
    shown = subprocess.run([sys.executable, "-c", f"import sys; {code}"], capture_output=True, text=True, check=True).stdout
    for absent, modules in zip(stages.values(), shown.splitlines(), strict=True):
        assert not absent & set(modules.split())
