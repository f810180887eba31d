import pytest
import torch
from torchvision.utils import save_image

from t3cen.data.errors import DataError
from t3cen.figures import redundancy, style


def test_the_numbers_behind_the_figure(tmp_path):
    image = torch.zeros(3, 4, 4)
    image[:, :, :2] = 128 / 255
    save_image(image, tmp_path / "half.png")
    with style.house_style():
        figure, numbers = redundancy.draw([str(tmp_path), "cifar10"], data_root=str(tmp_path))
    shares = numbers["shares"][str(tmp_path)]
    assert shares["luminance"] == {"full": 0.5, "partial": 0.0}
    assert shares["mean"]["full"] == 0.25
    assert "cifar10" in numbers["not_there"]
    assert numbers["tables"] == {}
    assert numbers["published"]["cifar10"] == {"full": pytest.approx(0.0057), "partial": pytest.approx(0.0064)}
    dots = {line.get_label(): line.get_xdata()[0] for line in figure.axes[0].lines}
    assert (dots["luminance"], dots["mean"], dots["saturation"]) == (50, 25, redundancy.NONE)


def test_nothing_to_draw_is_an_error(tmp_path):
    with pytest.raises(DataError, match="none of the data sets is there"):
        redundancy.draw(["cifar10"], data_root=str(tmp_path))
