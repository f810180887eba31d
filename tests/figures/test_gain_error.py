import pytest
import torch

from t3cen.figures import gain_error, style


def test_the_numbers_behind_the_figure():
    images = torch.full((2, 3, 4, 4), 0.5)
    images[:, :, 0] = 0.0
    with style.house_style():
        figure, numbers = gain_error.draw(images, gains=(-1, 1))
    down, up = numbers["gains"]["-1"], numbers["gains"]["+1"]
    for found in (down, up):
        assert found["largest error in stops"] < 1e-12
        assert 0.005 < found["mean in 8 bits"] < found["largest in 8 bits"] < 0.2
    # Levels of the floor 2^-8 and of twice it; half of white is stored as 188.
    assert down["levels held"] == [22, 255]
    assert up["levels held"] == [13, 187]
    assert numbers["pixels at the floor"] == 0.25
    assert numbers["pixels cut off"]["+0"] == 0
    assert numbers["pixels cut off"]["-1"] == 0.25
    assert numbers["pixels cut off"]["+3"] == pytest.approx(0.75)
    assert len(figure.axes) == 2


def test_gains_are_written_as_people_do():
    assert [gain_error.stops_of(gain) for gain in (-2, -1, 0.5, 1)] == ["−2 stops", "−1 stop", "+0.5 stops", "+1 stop"]
