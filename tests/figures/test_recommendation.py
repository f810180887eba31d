import torch

from t3cen.analysis import recommend
from t3cen.color import hsl_to_rgb
from t3cen.data.shifts import shift
from t3cen.figures import recommendation, style


def test_the_page_says_what_was_found():
    rng = torch.Generator().manual_seed(0)
    hsl = torch.tensor([0.2, 0.3, 0.4])[:, None, None] + 0.1 * torch.rand(12, 3, 1, 1, generator=rng) + torch.zeros(12, 3, 6, 6)
    images = hsl_to_rgb(hsl)
    found = recommend(images, shift(images, saturation=0.5), labels=[0, 1] * 6, groups=["h4", "s4", "s8"], pixels=36)
    with style.house_style():
        figure, numbers = recommendation.draw(found, "a title")
    assert numbers["group"] == "s4"
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert "T³CEN-S4" in texts
    assert figure.axes[1].get_title() == "saturation: moves 0.50"
    bars = {patch.get_height() for patch in figure.axes[4].patches}
    assert {round(100 * c["left_over"], 6) for c in numbers["candidates"]} == {round(height, 6) for height in bars}
