"""Nothing that a record names is made unless this project's own configuration names it."""

import pytest

from t3cen.experiments import all_runs
from t3cen.experiments.composition import compose
from t3cen.experiments.trusted import Untrusted, trusted


def test_every_declared_run_may_be_made():
    for run in all_runs().values():
        config = compose(run, "paper")
        assert trusted(config, "data", "augment", "loss", "optimizer") == {
            key: config[key] for key in ("data", "augment", "loss", "optimizer")
        }


@pytest.mark.parametrize(
    ("place", "value", "told"),
    [
        ("root", {"_target_": "pandas.read_pickle", "filepath_or_buffer": "x"}, "data.root._target_='pandas.read_pickle'"),
        ("_target_", "os.system", "data._target_='os.system'"),
        ("_target_", "t3cen.augment.AugMix", "data._target_='t3cen.augment.AugMix'"),
        ("_args_", ["x"], "data._args_.0='x'"),
        ("list", [1, {"_target_": "os.system"}], "data.list.1._target_='os.system'"),
        ("root", "${oc.env:HOME}", r"data.root='\$\{oc.env:HOME\}', which is no plain value"),
    ],
)
def test_what_conf_does_not_name_is_refused(place, value, told):
    config = compose(all_runs()["mnist_h4"], "paper")
    config["data"][place] = value
    with pytest.raises(Untrusted, match=told) as error:
        trusted(config, "data")
    assert "\n" not in str(error.value)
    assert trusted(config, "augment") == {"augment": None}
