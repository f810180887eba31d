import json
import math

import pytest

from t3cen.experiments.identity import config_hash, setting_hash

CONFIG = {
    "name": "mnist_h4",
    "seed": 1999,
    "optimizer": {"lr": 0.001},
    "model": {"group": "h4", "recompute": False},
    "data": {"root": "data", "angle": 5, "splits": (1, 2), "seed": 1999},
}


def changed(**changes):
    return {**CONFIG, **changes}


def test_hash_survives_json_and_key_order():
    assert config_hash(json.loads(json.dumps(CONFIG))) == config_hash(dict(reversed(CONFIG.items())))


def test_hash_ignores_where_and_how_fast_only():
    where = {"outputs": "elsewhere", "logger": {"wandb": "online"}, "data": {**CONFIG["data"], "root": "/scratch"}}
    neutral = changed(num_workers=8, model={**CONFIG["model"], "recompute": True}, **where)
    assert config_hash(neutral) == config_hash(CONFIG)
    for change in ({"seed": 2000}, {"optimizer": {"lr": 0.01}}, {"data": {**CONFIG["data"], "angle": 10}}, {"name": "mnist_h5"}):
        assert config_hash(changed(**change)) != config_hash(CONFIG), change


def test_setting_hash_differs_from_the_hash_in_the_seed_alone():
    assert setting_hash(changed(seed=2000, data={**CONFIG["data"], "seed": 2000})) == setting_hash(CONFIG)
    assert setting_hash(changed(optimizer={"lr": 0.01})) != setting_hash(CONFIG)


@pytest.mark.parametrize(("value", "error"), [(math.nan, ValueError), (object(), TypeError)])
def test_values_that_json_cannot_hold_are_refused(value, error):
    with pytest.raises(error):
        config_hash(changed(optimizer={"lr": value}))
