"""`shift_report` on networks whose answers under a shift of colour are known."""

import pytest
import torch
from torch import nn

from t3cen.analysis import shift_report
from t3cen.figures import style
from t3cen.figures.shift_report import draw
from t3cen.models import build

RED, GREEN, BLUE = (0.8, 0.3, 0.2), (0.3, 0.8, 0.2), (0.3, 0.2, 0.8)


class Strongest(nn.Module):
    """Answers with the strongest of red, green and blue."""

    def forward(self, rgb):
        return rgb.mean((2, 3))


def plain(*colors):
    return torch.stack([torch.tensor(color).view(3, 1, 1).expand(3, 6, 6) for color in colors])


def score(report, axis, amount):
    return next(share for at, share in report.scores[axis] if at == pytest.approx(amount))


def test_accuracy_is_that_of_a_network_that_sees_hue_alone():
    report = shift_report(Strongest(), plain(RED, GREEN, BLUE, BLUE), [0, 1, 2, 0], batch=3)
    assert (report.measure, report.images, report.unshifted, report.commonest) == ("accuracy", 4, 0.75, 0.5)
    assert score(report, "hue", 1 / 24) == 0.75
    assert score(report, "hue", 1 / 3) == 0.25  # blue becomes red, as the wrong label has it
    assert score(report, "saturation", -1) == 0.5  # grey is red to it
    assert score(report, "luminance", 0.1) == 0.75
    assert report.worst("hue")[1] == min(share for _, share in report.scores["hue"])
    assert report.worst("luminance") == (-0.5, 0.5)
    shifted = [share for amount, share in report.scores["hue"] if amount]
    assert report.mean("hue") == pytest.approx(sum(shifted) / len(shifted))


def test_agreement_is_with_itself():
    report = shift_report(Strongest(), plain(RED, GREEN, BLUE))
    assert (report.measure, report.unshifted, report.commonest) == ("agreement", 1.0, None)
    assert score(report, "hue", 0) == 1
    assert score(report, "hue", 1 / 3) == 0


def test_an_equivariant_network_keeps_its_answers_at_whole_steps():
    torch.manual_seed(0)
    network = build("resnet18", "h4", 5, width=8)
    rgb = 0.2 + 0.6 * torch.rand(6, 3, 12, 12)
    assert network.training
    report = shift_report(network, rgb)
    assert network.training
    assert [score(report, "hue", step / 4) for step in (-2, -1, 0, 1, 2)] == [1] * 5
    untouched = build("resnet18", "h4", 5, width=8).eval()
    shift_report(untouched, rgb, amounts={"hue": (0.0,)})
    assert not untouched.training


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((Strongest(), []), "no images were given"),
        ((Strongest(), [torch.rand(3, 4, 4), torch.rand(3, 5, 4)]), "images are of several sizes"),
        ((Strongest(), torch.rand(3, 3, 4, 4), [0, 1]), "2 labels were given"),
        ((Strongest(), torch.rand(2, 3, 4, 4), [0, 1, 2]), "3 labels were given for 2 images"),
        ((lambda rgb: rgb, torch.rand(2, 3, 4, 4)), r"must return logits \(2, classes\) for 2 images, got \(2, 3, 4, 4\)"),
        ((lambda rgb: {"out": rgb}, torch.rand(2, 3, 4, 4)), "must return logits .* got dict"),
    ],
)
def test_refusals(arguments, told):
    with pytest.raises(ValueError, match=told):
        shift_report(*arguments)


def test_an_unknown_axis_is_named():
    with pytest.raises(ValueError, match="axes are hue, saturation, luminance, got value"):
        shift_report(Strongest(), torch.rand(2, 3, 4, 4), amounts={"value": (0.1,)})


def test_the_picture_shows_the_numbers():
    reports = {
        "colour": shift_report(Strongest(), plain(RED, GREEN), [0, 1]),
        "constant": shift_report(lambda rgb: torch.eye(2)[torch.zeros(len(rgb), dtype=int)], plain(RED, GREEN), [0, 1]),
    }
    with style.house_style():
        figure, numbers = draw(reports, "two networks")
    hue = figure.axes[0]
    lines = {line.get_label(): line.get_xydata() for line in hue.get_lines()}
    expected = [[360 * amount, 100 * share] for amount, share in reports["colour"].scores["hue"]]
    assert [list(p) for p in lines["colour"]] == expected
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"colour", "constant", "always the commonest class"}
    assert "degrees" in hue.get_xlabel()
    assert "%" in hue.get_ylabel()
    assert numbers["constant"]["unshifted"] == 0.5
    other = {"agreeing": shift_report(Strongest(), plain(RED)), **reports}
    with pytest.raises(ValueError, match="reports of one measure are drawn together, got accuracy, agreement"):
        draw(other)
