import pytest
import torch

from t3cen.color import hsl_to_rgb
from t3cen.figures import hospital_colors, style


def test_the_numbers_behind_the_figure():
    def patches(saturation):
        return hsl_to_rgb(torch.tensor([0.85, saturation, 0.6])[None, :, None, None].expand(3, 3, 8, 8))

    with style.house_style():
        figure, numbers = hospital_colors.draw(
            {"one": patches(0.2), "two": patches(0.6)}, trained=["one"], title="Camelyon17 (drawn stand-in)"
        )
    assert numbers["one"]["saturation"]["mean"] == pytest.approx(0.2, abs=1e-3)
    apart = numbers["mean_distance_between_hospitals"]
    assert apart["saturation"] == pytest.approx(0.4, abs=0.01)
    assert apart["hue"] == pytest.approx(0, abs=0.01)
    assert figure.get_suptitle() == "Camelyon17 (drawn stand-in)"
    assert "training" in figure.axes[0].get_title()
    assert "not trained on" in figure.axes[1].get_title()


@pytest.mark.slow
def test_the_drawn_hospitals_differ_most_in_saturation():
    """What the paper's appendix says of the real ones."""
    from t3cen.figures.pictures import hospitals

    panels = hospitals(20, overrides=["data.patches=20"])
    assert list(panels) == [f"hospital {n}" for n in range(5)]
    with style.house_style():
        apart = hospital_colors.draw(panels)[1]["mean_distance_between_hospitals"]
    assert max(apart, key=apart.get) == "saturation"
