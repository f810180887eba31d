"""Our Hydra plugins, made known to Hydra without a package of their own."""

from __future__ import annotations

from importlib.util import find_spec

from hydra.core.config_store import ConfigStore
from hydra.core.plugins import Plugins
from hydra.plugins.plugin import Plugin


def register_plugins() -> None:
    """Let configurations name `hydra_plugins.t3cen.Sweep`, `Processes`, and `Local` and `Slurm` where submitit is installed."""
    plugins = Plugins.instance()
    # After that line, in which Hydra loads its own plugins anew: a subclass of an older copy would not be one of theirs.
    from t3cen.training.launcher import Processes
    from t3cen.training.sweeper import Sweep

    classes: list[type[Plugin]] = [Processes, Sweep]
    if find_spec("hydra_plugins") and find_spec("hydra_plugins.hydra_submitit_launcher"):
        from t3cen.training.cluster import Local, Slurm

        classes += [Local, Slurm]
    for cls in classes:
        plugins.register(cls)
        # Hydra looks plugins up by name and takes those of this package only
        plugins.class_name_to_class[f"hydra_plugins.t3cen.{cls.__name__}"] = cls
    for name, at_once in {"basic": 1, "joblib": 2}.items():  # in place of Hydra's own, in whose processes a run would end others
        node = {"_target_": "hydra_plugins.t3cen.Processes", "n_jobs": at_once}
        ConfigStore.instance().store(group="hydra/launcher", name=name, node=node, provider="t3cen")
