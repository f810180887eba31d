"""The fingerprint of data tells any other picture, label, index or file from the one there was."""

import torch
from PIL import Image

from t3cen.data.files import FileSource
from t3cen.data.items import ArraySource, TestItems
from t3cen.data.mnist import ColoredDigits
from t3cen.data.smallnorb import GreyPictures
from t3cen.data.splits import fingerprint

COUNT = 300
LABELS = torch.arange(COUNT) % 7


def noise(*shape):
    return torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def told(source, indices=None):
    indices = torch.arange(COUNT) if indices is None else indices
    return fingerprint([TestItems(source, indices), TestItems(source, indices)])


def test_any_picture_of_an_array_counts():
    images, grey, hues = noise(COUNT, 3, 4, 4), noise(COUNT, 4, 4), torch.rand(COUNT)
    makers = [
        (images, lambda: ArraySource(images, LABELS)),
        (grey, lambda: GreyPictures(grey, LABELS)),
        (grey, lambda: ColoredDigits(grey, LABELS, hues)),
    ]
    for held, make in makers:
        before = told(make())
        assert told(make()) == before
        held[1] += 1  # which is none of 64 evenly spaced ones
        assert told(make()) != before
        held[1] -= 1
        assert told(make()) == before
    before = told(ColoredDigits(grey, LABELS, hues))
    hues[1] = (hues[1] + 0.5) % 1
    assert told(ColoredDigits(grey, LABELS, hues)) != before


def test_any_label_and_any_index_counts():
    images, other = noise(COUNT, 3, 4, 4), LABELS.clone()
    before = told(ArraySource(images, LABELS))
    other[1] = 6
    assert told(ArraySource(images, other)) != before
    swapped = torch.arange(COUNT)
    swapped[[1, 2]] = swapped[[2, 1]]
    assert told(ArraySource(images, LABELS), swapped) != before


def test_labels_that_are_computed_count():
    class Drawn:
        def __init__(self, first):
            self.first = first

        def __len__(self):
            return COUNT

        def picture(self, index):
            return torch.zeros(3, 2, 2, dtype=torch.uint8)

        def label(self, index):
            return self.first if index == 1 else 0

    assert told(Drawn(0)) != told(Drawn(1))


def test_a_file_of_another_size_counts(tmp_path):
    paths = [tmp_path / f"{number:03d}.png" for number in range(COUNT)]
    for path in paths:
        Image.new("RGB", (4, 4)).save(path)
    before = told(FileSource("some", paths, LABELS))
    assert told(FileSource("some", paths, LABELS)) == before
    Image.fromarray(noise(4, 4, 3).numpy()).save(paths[1])
    assert told(FileSource("some", paths, LABELS)) != before
