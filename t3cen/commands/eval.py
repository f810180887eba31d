"""Test the weights of a finished run, on its own data set or on another.

t3cen eval outputs/paper/mnist_h4/seed1999                      its own test sets
t3cen eval outputs/.../seed1999 data.test_size=1000             with other settings of its data
t3cen eval outputs/.../seed1999 data=cifar10 data_root=/data    the test sets of another data set, its shifts included
t3cen eval outputs/.../seed1999/checkpoints/final.ckpt --to numbers.json

The network is the one of the run's config.json. Another data set must have as many classes.
"""

import sys
from pathlib import Path

from hydra.errors import HydraException

from t3cen.commands import enter, parser_of
from t3cen.data.errors import DataError
from t3cen.training.closing import table
from t3cen.training.explain import explain
from t3cen.training.files import write_json


def main(arguments: list[str]) -> int:
    parser = parser_of("eval", __doc__)
    parser.add_argument("run", type=Path, help="folder of a finished run, or a file of its checkpoints/")
    parser.add_argument("data", nargs="*", metavar="KEY=VALUE", help="data=NAME, data.KEY=VALUE, data_root=DIR, num_workers=N")
    parser.add_argument("--accelerator", default="auto", help="auto (default), cpu or gpu")
    parser.add_argument("--to", type=Path, metavar="FILE", help="write the numbers as JSON too")
    options = parser.parse_args(arguments)
    if not options.run.exists():
        sys.stderr.write(
            f"t3cen eval: there is no {options.run}; give the folder of a finished run, or a file of its checkpoints/\n"
        )
        return 1
    if options.to:
        options.to.parent.mkdir(parents=True, exist_ok=True)  # before minutes of testing
    from t3cen.training.evaluate import evaluate  # here: --help needs no torch

    try:
        tests = evaluate(options.run, options.data, accelerator=options.accelerator)
    except (FileNotFoundError, DataError, ValueError, HydraException) as error:
        sys.stderr.write(f"t3cen eval: {explain(error)}\n")
        return 1
    if options.to:
        write_json(options.to, {"run": str(options.run), "data": options.data, "test": tests})
    print("\n".join(table(tests)))
    return 0


if __name__ == "__main__":
    enter("eval", main)
