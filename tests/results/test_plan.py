from functools import partial

import pytest

from t3cen.analysis.roofline import roofline_seconds
from t3cen.experiments import all_runs
from t3cen.experiments.record import read
from t3cen.results.plan import Clock, steps_of


def config(**trainer):
    return {
        "data": {"_target_": "t3cen.data.MNIST", "batch_size": 128},
        "trainer": {"max_steps": -1, "max_epochs": None, **trainer},
    }


def test_steps_of_a_configuration():
    assert steps_of(config(max_steps=1000)) == 1000
    assert steps_of(config(max_epochs=5)) == 5 * 469
    assert steps_of(config(max_epochs=5, max_steps=10)) == 10
    assert steps_of({**config(max_epochs=2), "data": {"_target_": "x.Unknown", "batch_size": 8}}) is None
    assert steps_of({**config(max_epochs=2), "data": {"_target_": "x.Unknown", "batch_size": 8, "train_size": 17}}) == 6


def test_hours_come_from_the_run_itself_then_from_its_like(result_file):
    runs = all_runs()
    clock = Clock("paper")
    assert clock.hours(runs["mnist_h4"], 0, runs) is None
    clock.learn([read(result_file("mnist_h4", 1999, {"in": 900}, steps=3600, step_seconds=2.0))])
    assert clock.hours(runs["mnist_h4"], 0, runs) == pytest.approx(2.0)
    assert clock.hours(runs["mnist_h4"], 1800, runs) == pytest.approx(1.0)
    assert clock.step_seconds(runs["mnist_h5"], runs) == 2.0
    assert clock.step_seconds(runs["camelyon_s4"], runs) is None


def test_a_device_can_be_asked_for(result_file):
    record = read(result_file("mnist_h4", 1999, {"in": 900}, device="NVIDIA L40", step_seconds=0.1))
    other = read(result_file("mnist_h4", 2000, {"in": 900}, device="cpu", step_seconds=9.0))
    clock = Clock("paper", "l40")
    clock.learn([record, other])
    assert clock.step_seconds(all_runs()["mnist_h4"], all_runs()) == 0.1
    assert list(clock.devices) == ["NVIDIA L40"]


def test_what_was_never_timed_is_estimated_and_said_to_be(result_file):
    runs = all_runs()
    floor = roofline_seconds("NVIDIA L40")
    clock, other = (Clock("smoke", "L40", partial(floor, backend)) for backend in ("fourier", "direct"))
    assert 0 < clock.step_seconds(runs["mnist_h8"], runs) < 1
    assert clock.step_seconds(runs["mnist_h8"], runs) != other.step_seconds(runs["mnist_h8"], runs)
    assert clock.estimated == {"mnist_h8"}
    clock.add("NVIDIA L40", "mnist_h8", 2.0)
    assert clock.step_seconds(runs["mnist_h8"], runs) == 2.0
    assert roofline_seconds("a toaster") is None
