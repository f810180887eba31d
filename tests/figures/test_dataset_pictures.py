import pytest
import torch

from t3cen.figures import dataset_pictures, style


def test_the_numbers_behind_the_figure():
    panels = {"red": torch.zeros(4, 3, 6, 6).index_fill_(1, torch.tensor([0]), 0.8), "grey": torch.full((2, 3, 6, 6), 0.5)}
    with style.house_style():
        figure, numbers = dataset_pictures.draw(panels, "both")
    assert numbers["red"]["pictures"] == 4
    assert numbers["red"]["saturation"]["mean"] == pytest.approx(1)
    assert numbers["grey"]["luminance"]["mean"] == pytest.approx(0.5)
    assert [axes.get_title() for axes in figure.axes] == ["red", "grey"]
    with pytest.raises(ValueError, match="no pictures"):
        dataset_pictures.draw({})
