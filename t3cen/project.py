"""Where this project lies: a checkout of its repository, or an installed package. Imports nothing heavy."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
PROJECT = PACKAGE.parent
"""Where Python finds t3cen: the checkout, a copy of it that queued jobs run, or the folder of installed packages."""
IS_INSTALLED = (PACKAGE / "conf").is_dir()
"""Whether `conf/` lies inside the package, as a wheel brings it, and not beside it, as in the repository."""

SCRIPTS = {
    "train": "train.py",
    "eval": "scripts/evaluate.py",
    "status": "scripts/status.py",
    "tables": "scripts/make_tables.py",
    "claims": "scripts/claims.py",
    "figures": "scripts/make_figures.py",
    "report": "scripts/make_report.py",
    "reproduce": "scripts/reproduce.py",
    "data": "scripts/prepare_data.py",
    "deepaugment": "scripts/generate_deepaugment.py",
    "recommend": "scripts/recommend_order.py",
    "predict": "scripts/predict.py",
    "shift_report": "scripts/shift_report.py",
    "equivariance": "scripts/measure_equivariance.py",
    "publish": "scripts/publish_wandb.py",
    "sync": "scripts/sync_wandb.py",
    "demo": "scripts/demo.py",
}
"""The commands `t3cen NAME`, each `t3cen/commands/NAME.py` (a dash for each `_`), and what a checkout calls them."""


def conf_dir() -> Path:
    """The folder `conf/` of experiments, tables and figures.

    Raises:
        FileNotFoundError: there is none, so that no list of experiments is silently empty.
    """
    folder = (PACKAGE if IS_INSTALLED else PROJECT) / "conf"
    if not (folder / "train.yaml").is_file():
        raise FileNotFoundError(
            f"no train.yaml in {folder}, which t3cen's experiments and tables are read from; "
            'work in a whole checkout, or install it anew: pip install --force-reinstall "t3cen[suite]"'
        )
    return folder


def command(name: str) -> str:
    """How a person calls one of `t3cen.commands` here: `t3cen data`, or in a checkout `python scripts/prepare_data.py`."""
    return f"t3cen {name.replace('_', '-')}" if IS_INSTALLED else f"python {SCRIPTS[name]}"
