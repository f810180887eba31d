"""Packages that only a part of t3cen needs: which extra installs them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

MODULES = {
    "suite": ("hydra", "omegaconf", "yaml", "pytorch_lightning", "torchvision", "scipy", "pandas", "jinja2", "rich", "tqdm"),
    "cluster": ("hydra_plugins.hydra_submitit_launcher", "submitit", "hydra_plugins.hydra_joblib_launcher", "joblib"),
    "export": ("onnx", "onnxscript"),
}
"""By extra, what is imported of it before anything else; packages of one data set or augmentation are not among them."""


class MissingExtra(ModuleNotFoundError):
    """Packages are not installed that an extra would bring."""

    def __init__(self, names: Sequence[str], extra: str) -> None:
        missing = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} not installed"
        super().__init__(f'{missing}; this part of t3cen needs: pip install "t3cen[{extra}]"', name=names[0])


def require(extra: str) -> None:
    """Look for the packages of an extra, without importing them.

    Raises:
        MissingExtra: some are not installed; the message names them and the extra.
    """
    if absent := [name for name in MODULES[extra] if not _is_installed(name)]:
        raise MissingExtra(absent, extra)


def _is_installed(name: str) -> bool:
    parent = name.rpartition(".")[0]
    return (not parent or _is_installed(parent)) and find_spec(name) is not None
