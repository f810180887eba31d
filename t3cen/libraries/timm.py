"""Classifiers of timm, such as `timm/convnext_tiny`; timm is installed for them."""

from torch import nn

from t3cen.libraries.network import check_known, library


@library("timm")
def timm(model: str, num_classes: int) -> nn.Module:
    """A classifier of timm with random weights."""
    try:
        import timm as there
    except ModuleNotFoundError as error:
        raise ValueError(f"the network timm/{model} needs the package timm: pip install timm") from error
    check_known("timm", model, there.list_models())
    return there.create_model(model, pretrained=False, num_classes=num_classes)
