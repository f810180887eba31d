import torch

from t3cen.figures import lifting_error, style


def test_the_numbers_behind_the_figure():
    images = torch.rand(2, 3, 12, 12, generator=torch.Generator().manual_seed(0)).mul(255).round() / 255
    with style.house_style():
        figure, numbers = lifting_error.draw(images)
    assert numbers["t3cen"]["error_8bit"] < 1e-4
    assert 1 < numbers["lcer"]["error_8bit"] < 60
    assert numbers["t3cen"]["error_8bit_through_image"] > 1
    assert numbers["tables"]["equivariance_error"]["lifting/lcer"] == numbers["lcer"]["error_8bit"]
    drawn = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert drawn == ["input", "saturation − 0.75", "then + 0.75", "difference"]
