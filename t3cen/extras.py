"""Packages that only a part of t3cen needs: which extra installs them."""

from __future__ import annotations

from importlib.util import find_spec

MODULES = {
    "suite": ("hydra", "omegaconf", "yaml", "pytorch_lightning", "torchvision", "scipy", "pandas", "jinja2", "rich", "tqdm"),
    "cluster": ("hydra_plugins.hydra_submitit_launcher", "submitit"),
    "export": ("onnx", "onnxscript"),
}
"""By extra, what is imported of it before anything else; packages of one data set or augmentation are not among them."""


def require(extra: str) -> None:
    """Look for the packages of an extra, without importing them.

    Raises:
        ModuleNotFoundError: some are not installed; the message names them and the extra.
    """
    absent = [name for name in MODULES[extra] if not _is_installed(name)]
    if absent:
        missing = f"{', '.join(absent)} {'is' if len(absent) == 1 else 'are'} not installed"
        raise ModuleNotFoundError(f'{missing}; this part of t3cen needs: pip install "t3cen[{extra}]"', name=absent[0])


def _is_installed(name: str) -> bool:
    parent = name.rpartition(".")[0]
    return (not parent or _is_installed(parent)) and find_spec(name) is not None
