import torch

from t3cen.figures import lifting_cartoon, style


def test_the_numbers_behind_the_figure():
    images = torch.rand(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    with style.house_style():
        figure, numbers = lifting_cartoon.draw(images)
    for axis in ("hue", "saturation", "luminance"):
        assert numbers["t3cen"][axis]["roll_error"] < 1e-5
        assert numbers["t3cen"][axis]["input_error"] < 1e-5
        assert numbers["lcer"][axis]["input_error"] < 1e-5
    assert numbers["lcer"]["hue"]["roll_error"] < 1e-5
    assert numbers["lcer"]["saturation"]["roll_error"] > 0.1
    assert numbers["lcer"]["luminance"]["input_at"] == 1
    labels = [axes.get_xlabel() for axes in figure.subfigs[0].axes]
    assert labels[:4] == ["input", "+90°", "+180°", "+270°"]
