"""Draw figures: t3cen figures [NAME ...|all] [KEY=VALUE ...]

    t3cen figures                             lists the figures
    t3cen figures coverage entropy_density    two of them
    t3cen figures all                         every one
    t3cen figures coverage figure.order=6     with another setting (conf/figure/coverage.yaml)
    t3cen figures coverage small=true         a PNG of 1,200 pixels and 96 colours, without a PDF

PNG, PDF and JSON (command, configuration, numbers) go to outputs/figures. The numbers of one figure are printed too.
"""

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from t3cen.commands import enter
from t3cen.experiments.schema import nearest
from t3cen.figures import registry
from t3cen.progress import Progress
from t3cen.training.explain import explain


def main(arguments: list[str]) -> int:
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return 0
    wanted = [a for a in arguments if "=" not in a]
    overrides = [a for a in arguments if "=" in a]
    if not wanted:
        print(__doc__, "\nFigures:", *registry.names(), sep="\n  ")
        return 0
    known = registry.names()
    names = known if "all" in wanted else wanted
    if unknown := [name for name in names if name not in known]:
        told = f"no figure {unknown[0]!r}{nearest(unknown[0], known)} (figures: {', '.join(known)})"
        print(f"t3cen figures: {told}", file=sys.stderr)
        return 2
    try:
        for name in names if overrides else names[:1]:
            folder = Path(registry.configure(name, overrides)["figures"])
    except (HydraException, OmegaConfBaseException) as error:
        keys: Any = OmegaConf.to_container(registry.configure(name), resolve=False)
        print(f"t3cen figures: {explain(error, keys, f'{name} has the keys of conf/figure/{name}.yaml')}", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)  # before hours of training
    failed: list[str] = []
    with Progress("figures", total=len(names), unit="figure", leave=False, disable=len(names) == 1) as progress:
        for name in names:
            progress.set_description_str(f"figures: {name}")
            told = _made(name, overrides, alone=len(names) == 1)
            failed += [] if told else [name]
            with Progress.external_write_mode():  # the bar goes while lines are written
                print(told, end="", flush=True)
            progress.update()
    if failed:
        print(f"not drawn: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _made(name: str, overrides: Sequence[str], *, alone: bool) -> str:
    """Draw a figure; what is printed of it, with its numbers where it is `alone`.

    Nothing where it could not be drawn, which is told on the error stream.
    """
    try:
        paths, numbers = registry.make(name, overrides, shlex.join(["t3cen", "figures", name, *overrides]))
    except Exception as error:  # one figure that cannot be drawn must not cost the others
        cause = error.__cause__ or error  # Hydra wraps what a figure raises
        with Progress.external_write_mode():
            print(f"{name}: {type(cause).__name__}: {cause}", file=sys.stderr)
        return ""
    line = f"{name}: {paths['png']} and {', '.join(f'.{suffix}' for suffix in paths if suffix != 'png')}\n"
    return line + (f"{json.dumps(numbers, indent=1)}\n" if alone else "")


if __name__ == "__main__":
    enter("figures", main)
