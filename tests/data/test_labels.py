"""Every label is a whole number of a class, whatever the data set."""

import numpy as np
import pytest
import torch

from t3cen.data.errors import DataError
from t3cen.data.items import ArraySource, TestItems, TrainItems
from t3cen.data.labels import check_labels, whole_numbers
from t3cen.data.module import ColorData, Splits


@pytest.mark.parametrize("labels", [[1, 0], [1.0, 0.0], np.array([1, 0], np.uint8), torch.tensor([1, 0], dtype=torch.int32)])
def test_whole_numbers_of_any_type(labels):
    assert whole_numbers(labels).tolist() == [1, 0]
    assert whole_numbers(labels).dtype == torch.long


@pytest.mark.parametrize("labels", [[0.5], [float("nan")], ["1"], [True], [[1]], [None], [2**63]])
def test_nothing_is_rounded_or_guessed(labels):
    with pytest.raises(ValueError, match="whole numbers, got"):
        whole_numbers(labels)


def test_range_and_presence():
    check_labels("set", [0, 1, 2], 3, "here")
    with pytest.raises(DataError, match="set: here has a label -1, only 0 to 2 are expected"):
        check_labels("set", [0, 1, 2, -1], 3, "here")
    with pytest.raises(DataError, match=r"set: here has no picture of 1 of 3 classes \(the first: number 1\)"):
        check_labels("set", [0, 2], 3, "here")


class Own(ColorData):
    """A data set of somebody else, which checks nothing itself."""

    name, class_names, native_size = "own", ("a", "b"), 4
    labels: tuple[int, ...] = (0, 1, 0, 1)

    def prepare(self):
        source = ArraySource(torch.zeros(4, 3, 4, 4, dtype=torch.uint8), list(self.labels))
        items = TestItems(source, torch.arange(2))
        return Splits(TrainItems(source, torch.arange(4), None, None, 0), {"validation": items}, {"test": items})


@pytest.mark.parametrize(("labels", "told"), [((0, 1, 0, 7), "a label 7"), ((1, 1, 1, 1), "no picture of 1 of 2 classes")])
def test_every_data_set_passes_the_door(labels, told):
    Own(root="nowhere").setup()
    data = Own(root="nowhere")
    data.labels = labels
    with pytest.raises(DataError, match=rf"own: .*nowhere has {told}"):
        data.setup()
