import pytest
import torch

from t3cen.figures import feature_maps, style


def _draw(axis, amount, t3cen=4, lcer=3, size=8, **options):
    images = 0.1 + 0.8 * torch.rand(2, 3, size, size, generator=torch.Generator().manual_seed(0))
    with style.house_style():
        return feature_maps.draw(images, axis, amount, {"t3cen": t3cen, "lcer": lcer}, width=8, **options)


@pytest.mark.parametrize(
    ("axis", "amount"), [("saturation", -0.5), ("luminance", 0.5), ("red", 0.5), ("blue", -0.5), ("scale", 0.5)]
)
def test_t3cen_commutes_and_lcer_does_not(axis, amount):
    figure, numbers = _draw(axis, amount)
    assert numbers["t3cen"]["angles"] < 5e-6
    assert 0.05 < numbers["lcer"]["angles"] < 1
    assert numbers["t3cen"]["steps"] == (1 if amount > 0 else -1)
    texts = [text.get_text() for panel in figure.subfigs for text in panel.texts]
    assert any("commutation error" in text for text in texts)


def test_downsampling_is_no_element_of_the_scale_group():
    _, numbers = _draw("scale", 0.5, size=16)
    cells = numbers["tables"]["scale_downsampling"]
    assert cells["t3cen/own"] < 5e-6
    assert cells["t3cen/best"] > 0.01
    assert cells["t3cen/best"] <= cells["t3cen/identity"]
    assert len(numbers["t3cen"]["downsampled_by_element"]) == 4


def test_both_commute_with_hue():
    _, numbers = _draw("hue", 0.25, lcer=4)
    assert max(numbers[method]["angles"] for method in ("t3cen", "lcer")) < 5e-6


def test_the_lines_are_the_permutation():
    figure, _ = _draw("saturation", -0.5)
    arrows = [artist for artist in figure.subfigs[0].artists if hasattr(artist, "coords1")]
    assert len(arrows) == 4
    assert len([artist for artist in figure.subfigs[1].artists if hasattr(artist, "coords1")]) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("saturation", 0.3), "0.6 steps at order 4 of t3cen"), (("warmth", 0.5), "got 'warmth'")],
)
def test_what_cannot_be_drawn_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        _draw(*arguments)
