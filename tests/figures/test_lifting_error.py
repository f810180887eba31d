import torch

from t3cen.figures import lifting_error, style


def test_the_numbers_behind_the_figure():
    images = torch.rand(2, 3, 12, 12, generator=torch.Generator().manual_seed(0)).mul(255).round() / 255
    with style.house_style():
        figure, numbers = lifting_error.draw(images)
    assert numbers["t3cen"]["error_8bit"] < 1e-4
    assert 1 < numbers["lcer"]["error_8bit"] < 60
    terms = numbers["on_equal_terms"]
    assert terms["float"]["t3cen"] < 1e-4 < 1 < terms["float"]["lcer"]
    assert terms["image"]["t3cen"] > 1  # noise goes past the ends, and comes back on the other sheet
    assert terms["image"]["lcer"] > terms["float"]["lcer"]  # a stored grey has no hue
    assert numbers["tables"]["equivariance_error"]["lifting/published/lcer"] == numbers["lcer"]["error_8bit"]
    drawn = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert drawn == ["input", "saturation − 0.75", "then + 0.75", "difference"]
