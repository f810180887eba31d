"""Cross-entropy and the Jensen-Shannon consistency loss."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from t3cen.loss import cross_entropy, jensen_shannon, jensen_shannon_divergence


def one_hot(*classes, sharp=1e3):
    return [sharp * F.one_hot(torch.tensor([c]), 2).float() for c in classes]


def network(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Flatten(), nn.Linear(3 * 4 * 4, 5))


def batch(seed=0, size=6):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(size, 3, 4, 4, generator=generator), torch.randint(5, (size,), generator=generator)


def test_certain_predictions_of_classes_0_1_1():
    # (log 3 + 2 log 1.5) / 3
    assert jensen_shannon_divergence(one_hot(0, 1, 1)).item() == pytest.approx(0.6365, abs=1e-4)


def test_agreement_costs_nothing_and_disagreement_at_most_log_n():
    assert jensen_shannon_divergence(one_hot(1, 1, 1)).item() == pytest.approx(0, abs=1e-6)
    logits = [torch.randn(7, 4, generator=torch.Generator().manual_seed(s)) for s in range(3)]
    assert 0 < jensen_shannon_divergence(logits) < math.log(3)


def test_equals_the_published_formula():
    logits = [torch.randn(7, 4, generator=torch.Generator().manual_seed(s)) for s in range(3)]
    clean, first, second = (F.softmax(view, dim=1) for view in logits)
    mixture = torch.clamp((clean + first + second) / 3, 1e-7, 1).log()
    published = sum(F.kl_div(mixture, p, reduction="batchmean") for p in (clean, first, second)) / 3
    torch.testing.assert_close(jensen_shannon_divergence(logits), published)


def test_mixture_is_clamped_and_gradients_stay_finite():
    logits = [view.requires_grad_() for view in one_hot(0, 1, 1, sharp=1e5)]
    loss = jensen_shannon_divergence(logits)
    loss.backward()
    assert loss.isfinite()
    assert all(view.grad.isfinite().all() for view in logits)


def test_loss_is_clean_cross_entropy_plus_twelve_times_the_divergence():
    net = network()
    (images, labels), others = batch(), [batch(s)[0] for s in (1, 2)]
    views = [images, *others]
    expected = F.cross_entropy(net(images), labels) + 12 * jensen_shannon_divergence([net(v) for v in views])
    torch.testing.assert_close(jensen_shannon(net, tuple(views), labels), expected)
    assert jensen_shannon(net, views, labels, weight=0.0).item() == pytest.approx(cross_entropy(net, images, labels).item())


def test_all_views_are_seen_as_one_batch():
    seen = []

    def net(images):
        seen.append(len(images))
        return torch.zeros(len(images), 5)

    images, labels = batch()
    jensen_shannon(net, (images, images, images), labels)
    assert seen == [18]


def test_every_view_gets_a_gradient():
    views = [batch(s)[0].requires_grad_() for s in range(3)]
    jensen_shannon(network(), views, batch()[1]).backward()
    assert all(view.grad.abs().sum() > 0 for view in views)


def test_cross_entropy_is_plain():
    images, labels = batch()
    torch.testing.assert_close(cross_entropy(network(), images, labels), F.cross_entropy(network()(images), labels))


def test_cross_entropy_refuses_views():
    images, labels = batch()
    with pytest.raises(TypeError, match="got 3 views; this augmentation needs jensen_shannon"):
        cross_entropy(network(), (images, images, images), labels)


@pytest.mark.parametrize("single", [lambda x: x, lambda x: (x,)])
def test_jensen_shannon_refuses_a_single_view(single):
    images, labels = batch()
    with pytest.raises(TypeError, match="augment=augmix"):
        jensen_shannon(network(), single(images), labels)
