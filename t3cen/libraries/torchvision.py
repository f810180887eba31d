"""Classifiers of torchvision, such as `torchvision/resnet18`."""

from torch import nn
from torchvision import models

from t3cen.libraries.network import check_known, library


@library("torchvision")
def torchvision(model: str, num_classes: int) -> nn.Module:
    """A classifier of torchvision with random weights."""
    check_known("torchvision", model, models.list_models(module=models))
    # these two return logits of auxiliary classifiers too, unless told
    options = {"aux_logits": False, "init_weights": True} if model in ("googlenet", "inception_v3") else {}
    return models.get_model(model, weights=None, num_classes=num_classes, **options)
