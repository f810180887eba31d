import torch

from t3cen.figures import equivariance_error, style


def test_the_numbers_behind_the_figure():
    images = 0.1 + 0.8 * torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    with style.house_style():
        figure, numbers = equivariance_error.draw(images, orders=[3, 5], backbone="resnet18", width=8)
    own, printed, lcer = numbers["t3cen"]["own"], numbers["t3cen"]["printed"], numbers["lcer"]["printed"]
    assert max(own["angles"]) < 5e-6
    assert min(printed["angles"]) > 1e-3  # the printed shift is no step of T3CEN
    assert all(0.1 < error < 1 for error in lcer["angles"])
    assert lcer["angles"][1] < lcer["angles"][0]
    assert lcer == numbers["lcer"]["own"]
    assert all(share > 0 for share in own["sheet_changes"])
    assert min(own["image"]) > 1e-3
    cells = numbers["tables"]["equivariance_error"]
    assert cells["own/angles/t3cen"] == sum(own["angles"]) / 2
    assert cells["printed/angles/t3cen"] == sum(printed["angles"]) / 2
    lines = [list(line.get_ydata()) for line in figure.axes[0].lines]
    assert all(drawn in lines for drawn in (lcer["angles"], own["angles"], own["image"], printed["angles"]))
    assert "random weights" in figure.axes[0].get_title(loc="left")
