"""The command line of training: help at once, and errors in one line."""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from hydra.errors import HydraException
from omegaconf.errors import OmegaConfBaseException

from t3cen.experiments import help_footer, register
from t3cen.extras import MissingExtra, require
from t3cen.project import command, conf_dir
from t3cen.training.explain import explain
from t3cen.training.folders import register_resolvers
from t3cen.training.signals import heed

GROUPS = ("data", "model", "augment", "scale", "optimizer", "scheduler", "callbacks", "logger", "launcher")
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
  model.cover=triangle    or sine, half_sine; sine+half_sine for saturation and luminance
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
        options = sorted(path.stem for path in (conf_dir() / group).glob("[!.]*.yaml") if path.stem != "base")
        lines += textwrap.wrap(", ".join(options), 100, initial_indent=f"  {group:<9} ", subsequent_indent=" " * 12)
    usage = USAGE.replace("python train.py", command("train"))
    return usage.format(groups="\n".join(lines), footer=help_footer())


def command_line(main: Callable[[], None]) -> None:
    """Run Hydra's `main`; what a person mistyped is told in one line, with exit status 1."""
    sys.argv[1:] = arguments = options_first(sys.argv[1:])
    wants_traces = os.environ.get("HYDRA_FULL_ERROR") == "1"
    try:
        if not arguments or {"--help", "-h"} & set(arguments):
            sys.stdout.write(help_text())
            return
        _prepare(arguments)
        os.environ["HYDRA_FULL_ERROR"] = "1"  # so that Hydra hands errors on instead of printing them
        main()
    except BrokenPipeError:
        raise  # nobody is wrong: the reader went away
    except (HydraException, OmegaConfBaseException, MissingExtra, OSError, ValueError) as error:
        if wants_traces:
            raise
        sys.stderr.write(f"error: {explain(error)}\n")
        sys.exit(1)


def options_first(arguments: Sequence[str]) -> list[str]:
    """`-m` wherever it stands, which Hydra reads only before all `key=value`."""
    given = [argument for argument in arguments if argument in ("-m", "--multirun")]
    return [*given[:1], *(argument for argument in arguments if argument not in given)]


def _refuse(parser: argparse.ArgumentParser, message: str) -> NoReturn:
    raise ValueError(f"{message}; {command('train')} --help shows what it takes")


def _prepare(arguments: Sequence[str]) -> None:
    """Make Hydra know what configurations may name.

    Raises:
        ValueError: a table file is wrong, or an argument chooses nothing.
        MissingExtra: a launcher's packages are not installed.
    """
    from t3cen.training.plugins import register_plugins  # here: Hydra looks through all its plugins for it

    # Python 3.14's argparse reads every help text as it is added; one of Hydra 1.3 is no text until it is printed.
    if hasattr(argparse.ArgumentParser, "_check_help"):
        argparse.ArgumentParser._check_help = lambda *_: None
    argparse.ArgumentParser.error = _refuse  # type: ignore[assignment,method-assign] # Hydra's prints eight lines
    logging.raiseExceptions = False  # a reader of the log who went away (`| head`) is no reason for a traceback
    heed()
    register()
    for folder in _own_tables(arguments):
        register(folder)
    register_resolvers()
    register_plugins()
    if "scheduler=null" in arguments:
        raise ValueError("scheduler=null chooses no schedule and leaves the data set's; write scheduler=none for a constant rate")
    if any(re.fullmatch(CLUSTERED, argument) for argument in arguments):
        require("cluster")


def _own_tables(arguments: Sequence[str]) -> list[Path]:
    """The folder `table` of each `--config-dir`."""
    line = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    line.add_argument("--config-dir", "-cd", action="append", default=[], type=Path)
    given = line.parse_known_args(list(arguments))[0].config_dir
    return [folder / "table" for folder in given if (folder / "table").is_dir()]
