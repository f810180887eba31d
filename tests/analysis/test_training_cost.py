import pytest

from t3cen.analysis.training_cost import Setting, measure, measure_here

SMALL = {"image_size": 8, "batch_size": 2, "dropped": 1, "averaged": 1, "width": 8, "threads": 1}


def test_a_network_in_a_process_of_its_own():
    found = measure(Setting("h4", **SMALL))
    assert found["iterations_per_second"] > 0
    assert 1 < found["memory_mib"] < 2000
    assert found["parameters"] > 1000
    assert found["device"].startswith("cpu")


@pytest.mark.slow
def test_a_larger_group_costs_more_memory():
    size = {**SMALL, "image_size": 32, "batch_size": 32, "width": 16}
    assert measure(Setting("h4s4", **size))["memory_mib"] > 1.5 * measure(Setting("", **size))["memory_mib"]


@pytest.mark.slow
def test_what_cannot_be_measured_says_why():
    assert "odd saturation order" in measure(Setting("s4", family="lcer", **SMALL))["failed"]


def test_what_takes_too_long_is_ended():
    assert measure(Setting("h4", **SMALL), limit=0.1) == {"failed": "not finished in 0 seconds"}


def test_nothing_to_average_is_an_error():
    with pytest.raises(ValueError, match="at least 1 and dropped at least 0, got 0 and 1"):
        measure_here(Setting("", **{**SMALL, "averaged": 0}))
