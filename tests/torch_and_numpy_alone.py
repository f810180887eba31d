"""Run by test_wheel.py: what `pip install t3cen` is for, where nothing but PyTorch and NumPy can be imported."""

import importlib
import pkgutil
import re
import sys
from importlib import metadata

PUBLIC = ("nn", "models", "color", "groups", "covers", "testing", "analysis", "export", "importers", "conversion", "overview")


def needed(name, found):
    """The distributions that one needs, itself and theirs included."""
    name = re.sub(r"[-_.]+", "-", name).lower()
    if name not in found:
        found.add(name)
        try:
            lines = metadata.requires(name) or []
        except metadata.PackageNotFoundError:  # of another platform
            return found
        for line in lines:
            if "extra ==" not in line:
                needed(re.match(r"[\w.-]+", line)[0], found)
    return found


distributions = needed("torch", set()) | {"numpy"}
providers = metadata.packages_distributions()
allowed = {name for name, by in providers.items() if {re.sub(r"[-_.]+", "-", one).lower() for one in by} & distributions}
allowed |= {*sys.stdlib_module_names, "t3cen"}


class Fence:
    """Packages that are not allowed are not found, as if they were not installed."""

    def __init__(self, finders):
        self.finders = finders

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in allowed and not name.startswith("_sysconfigdata"):  # named by platform
            return None
        return next((spec for finder in self.finders if (spec := finder.find_spec(name, path, target))), None)


sys.meta_path[:] = [Fence(list(sys.meta_path))]

import torch  # noqa: E402

for absent in ("PIL", "scipy", "torchvision", "hydra", "pytorch_lightning", "sklearn"):
    try:
        importlib.import_module(absent)
    except ModuleNotFoundError:
        continue
    sys.exit(f"{absent} can be imported; the fence has a hole")

for name in PUBLIC:
    module = importlib.import_module(f"t3cen.{name}")
    for file in pkgutil.walk_packages(getattr(module, "__path__", []), f"t3cen.{name}."):
        importlib.import_module(file.name)
    for public in getattr(module, "__all__", ()):
        getattr(module, public)

from t3cen.analysis import equivariance_error, lifting_error  # noqa: E402, F401
from t3cen.export import export_onnx  # noqa: E402
from t3cen.models import build  # noqa: E402

images = torch.rand(2, 3, 16, 16, generator=torch.Generator().manual_seed(0))
network = build("resnet18", "h4", 10, width=16).eval()
network(images).sum().backward()

wanted = {
    "t3cen[export]": lambda: export_onnx(network, (16, 16), "network.onnx"),
    "t3cen[suite]": lambda: importlib.import_module("t3cen.data").MNIST,
}
wanted_modules = ("tables", "figures", "commands")
for extra, action in [
    *wanted.items(),
    *(("t3cen[suite]", lambda m=m: importlib.import_module(f"t3cen.{m}")) for m in wanted_modules),
]:
    try:
        action()
    except ModuleNotFoundError as error:
        said = str(error)
        if f'pip install "{extra}"' not in said or "\n" in said:
            sys.exit(f"not one line that names {extra}: {said}")
    else:
        sys.exit(f"{extra} was not missed")

sys.stdout.write("all of it works\n")
