"""The command line of training: help at once, and errors in one line."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import textwrap
from collections.abc import Callable

from hydra.errors import ConfigCompositionException, HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import OmegaConfBaseException

from t3cen.experiments import check_overrides, help_footer, register
from t3cen.extras import MissingExtra, require
from t3cen.project import command, conf_dir
from t3cen.training.folders import register_resolvers
from t3cen.training.signals import heed

GROUPS = ("data", "model", "augment", "scale", "launcher")
CLUSTERED = r"(hydra/)?launcher=(slurm|local|joblib)"
"""Launchers whose packages are an extra."""
USAGE = """\
Train and test one network, or every run of a table. Results: outputs/<scale>/<experiment>/seed<seed>/result.json.

  python train.py experiment=camelyon_s4                       one run of the paper
  python train.py experiment=mnist_h4 scale=laptop seed=2000   made smaller; another seed
  python train.py -m experiment=mnist_h4,mnist_z2cnn seed=1999,2000,2001
  python train.py sweep=hue_shift launcher=slurm               a whole table

The same command again goes on where it stopped: finished runs are skipped, others go on from their last checkpoint.

Choose (group=option):
{groups}

Set (key=value), among others:
  seed=1999               of weights, order and augmentation
  data_root=data          where data sets lie
  data.source=files       or what can be made without files: bundled, rendered, synthetic
  outputs=outputs         where results go
  num_workers=2           loader processes
  model.group=h4s4        orders of hue, saturation, luminance
  model.cover=triangle    or sine, half_sine
  selection=last          tested weights: the last, or the best on this validation set
  step_jitter=false       shift training images by up to half a group step
  checkpoint_every.minutes=5
  logger.wandb=offline    or online, off
  trainer.max_epochs=...  and whatever Lightning's Trainer takes (new keys with +trainer.key=value)

{footer}

Every key: python train.py --cfg job experiment=<name>. Hydra's own options: python train.py --hydra-help.
"""


def help_text() -> str:
    """Usage, groups, the keys most often set, and every experiment."""
    lines = []
    for group in GROUPS:
        options = sorted(path.stem for path in (conf_dir() / group).glob("*.yaml") if path.stem != "base")
        lines += textwrap.wrap(", ".join(options), 100, initial_indent=f"  {group:<9} ", subsequent_indent=" " * 12)
    usage = USAGE.replace("python train.py", command("train"))
    return usage.format(groups="\n".join(lines), footer=help_footer())


def command_line(main: Callable[[], None]) -> None:
    """Run Hydra's `main`; what a person mistyped is told in one line, with exit status 1."""
    if {"--help", "-h"} & set(sys.argv[1:]):
        sys.stdout.write(help_text())
        return
    from t3cen.training.plugins import register_plugins  # here: Hydra looks through all its plugins for it

    # Python 3.14's argparse reads every help text as it is added; one of Hydra 1.3 is no text until it is printed.
    if hasattr(argparse.ArgumentParser, "_check_help"):
        argparse.ArgumentParser._check_help = lambda *_: None
    heed()
    register()
    register_resolvers()
    register_plugins()
    if os.environ.get("HYDRA_FULL_ERROR") == "1":
        main()
        return
    os.environ["HYDRA_FULL_ERROR"] = "1"  # so that Hydra hands errors on instead of printing them
    try:
        check_overrides(sys.argv[1:])
        if any(re.fullmatch(CLUSTERED, argument) for argument in sys.argv[1:]):
            require("cluster")
        main()
    except (HydraException, OmegaConfBaseException, MissingExtra, OSError, ValueError) as error:
        sys.stderr.write(f"error: {explain(error)}\n")
        sys.exit(1)


def explain(error: Exception) -> str:
    """What was wrong on the command line, in one line."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file:
        group, _, option = str(error.missing_cfg_file).rpartition("/")
        known = [name for name in error.options or () if name != "base"]
        if known:
            return f"no {group} {option!r}{_nearest(option, known)} ({group}: {', '.join(known)})"
    if isinstance(error, OverrideParseException):
        return f"cannot read {error.override!r}: {error.message.splitlines()[0]}"
    cause = error.__cause__ if isinstance(error, ConfigCompositionException) and error.__cause__ else error
    key = getattr(cause, "full_key", None)
    text = " ".join(str(error).split("\n")[0].split())
    if text.startswith("Ambiguous value"):
        return f"{text}; several values need --multirun (-m)"
    if key and re.search("Could not override|not in struct|Key .* is not", f"{error} {cause}"):
        hint = f"{command('train')} --cfg job shows all, a + before a key adds it"
        return f"no key {key!r} in the configuration{_nearest(key, _keys(key.count('.')))}; {hint}"
    return text or type(error).__name__


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else ""


def _keys(depth: int) -> list[str]:
    """The keys of the default configuration with so many dots in them."""
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    GlobalHydra.instance().clear()
    with initialize_config_dir(version_base="1.3", config_dir=str(conf_dir())):
        config = OmegaConf.to_container(compose("train"), resolve=False)

    def keys(node: object, prefix: str) -> list[str]:
        if not isinstance(node, dict):
            return [prefix]
        found = [prefix] if prefix else []
        return found + [key for name, value in node.items() for key in keys(value, f"{prefix}.{name}" if prefix else str(name))]

    return [key for key in keys(config, "") if key.count(".") == depth]
