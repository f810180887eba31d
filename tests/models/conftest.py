"""Every way colour enters, with the group its configuration starts from."""

from pathlib import Path

import pytest
from omegaconf import OmegaConf

from t3cen.models.families import FAMILIES

CONF = Path(__file__).parents[2] / "conf" / "model"


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture
def group(family):
    return OmegaConf.load(CONF / f"{family}.yaml").get("group", "")
