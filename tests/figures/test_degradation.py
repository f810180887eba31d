from types import SimpleNamespace

import pytest

from t3cen.figures import degradation, style


class _Runs:
    """Stands in for finished runs: order 4 is best, whatever the seed."""

    def caption(self, seeds, source):
        return f"{len(seeds)} {source}"

    def get(self, experiments, seeds):
        def record(name, seed):
            order = 1 if name == "mnist_z2cnn" else int(name.removeprefix("mnist_h"))
            wrong = 10 + abs(order - 4) + (seed - 2000)
            return SimpleNamespace(tests={"shift": {"correct": 100 - wrong, "total": 100}}, source="bundled", seed=seed)

        return {name: [record(name, seed) for seed in seeds] for name in experiments}


def test_the_numbers_behind_the_figure():
    with style.house_style():
        figure, numbers = degradation.draw(_Runs(), orders=[1, 2, 4, 8, 20])
    assert numbers["highest_at_order"] == 4
    assert numbers["mean"]["1"] == pytest.approx(87)
    assert numbers["sd"]["1"] == pytest.approx(1)
    assert numbers["channels"] == {"1": 20, "2": 14, "4": 10, "8": 7, "20": 4}
    assert numbers["published_accuracy"] == {"1": 86.06, "4": 98.04, "20": 90.81}
    assert list(figure.axes[0].lines[0].get_ydata()) == pytest.approx([87, 88, 90, 86, 74])


def test_one_seed_has_no_spread():
    with style.house_style():
        _, numbers = degradation.draw(_Runs(), orders=[1, 4], seeds=[2000])
    assert numbers["sd"] == {"1": None, "4": None}
