import torch

from t3cen.figures import equivariance_error, style


def test_the_numbers_behind_the_figure():
    images = 0.1 + 0.8 * torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    with style.house_style():
        figure, numbers = equivariance_error.draw(images, orders=[3, 5], backbone="resnet18", width=8)
    assert max(numbers["t3cen"]["angles"]) < 5e-6
    assert all(0.1 < error < 1 for error in numbers["lcer"]["angles"])
    assert numbers["lcer"]["angles"][1] < numbers["lcer"]["angles"][0]
    assert all(share > 0 for share in numbers["t3cen"]["sheet_changes"])
    assert min(numbers["t3cen"]["image"]) > 1e-3
    cells = numbers["tables"]["equivariance_error"]
    assert cells["saturation_equivariance/t3cen"] == sum(numbers["t3cen"]["angles"]) / 2
    lines = figure.axes[0].lines
    assert any(list(line.get_ydata()) == numbers["lcer"]["angles"] for line in lines)
    assert "random weights" in figure.axes[0].get_title(loc="left")
