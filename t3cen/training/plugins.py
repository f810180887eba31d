"""Our Hydra plugins, made known to Hydra without a package of their own."""

from __future__ import annotations

from importlib.util import find_spec

from hydra.core.plugins import Plugins
from hydra.plugins.plugin import Plugin


def register_plugins() -> None:
    """Let configurations name `hydra_plugins.t3cen.Sweep`, and `Local` and `Slurm` where submitit is installed."""
    plugins = Plugins.instance()
    # After that line, in which Hydra loads its own plugins anew: a subclass of an older copy would not be one of theirs.
    from t3cen.training.sweeper import Sweep

    classes: list[type[Plugin]] = [Sweep]
    if find_spec("hydra_plugins") and find_spec("hydra_plugins.hydra_submitit_launcher"):
        from t3cen.training.cluster import Local, Slurm

        classes += [Local, Slurm]
    for cls in classes:
        plugins.register(cls)
        # Hydra looks plugins up by name and takes those of this package only
        plugins.class_name_to_class[f"hydra_plugins.t3cen.{cls.__name__}"] = cls
