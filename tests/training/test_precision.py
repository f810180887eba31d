"""Mixed precision and compiled training: the same weights after a stop, bit for bit, and a network still equivariant."""

import pytest
import torch
from runs import assert_equal, job, result, run_here

from t3cen.models import build
from t3cen.testing import network_error
from t3cen.training.trainer import compiled


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
    torch.use_deterministic_algorithms(False)


KINDS = [
    {"precision": "bf16-mixed"},
    pytest.param({"compile": True, "precision": "bf16-mixed"}, marks=pytest.mark.slow),
]


@pytest.mark.parametrize("settings", KINDS, ids=str)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's compiler, of itself
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_stopped_run_ends_as_one_that_was_not(settings, tmp_path):
    whole, stopped = (job(tmp_path / name, max_epochs=2, **settings) for name in ("whole", "stopped"))
    run_here(whole)
    with pytest.raises(ValueError, match="told to raise"):
        run_here(stopped, "4:raise")
    run_here(stopped)
    assert_equal(result(tmp_path / "stopped"), result(tmp_path / "whole"))
    exact = job(tmp_path / "exact", max_epochs=2)
    run_here(exact)
    weights, others = result(tmp_path / "exact")[0], result(tmp_path / "whole")[0]
    assert weights.keys() == others.keys()  # a compiled network saves what any other does
    different = max(float((weights[name].float() - others[name].float()).abs().max()) for name in weights)
    assert different > 0, "the setting changed nothing"


def test_compile_is_yes_or_no():
    assert compiled({}) is False
    with pytest.raises(ValueError, match="must be true or false, got 'inductor'"):
        compiled({"compile": "inductor"})


@pytest.mark.parametrize(("dtype", "bound"), [(torch.bfloat16, 2e-2), (torch.float16, 3e-3)])
def test_a_network_in_mixed_precision_is_equivariant_to_rounding(dtype, bound):
    network = build("z2cnn", "h4s4", 4, width=32).eval()
    rgb = torch.rand(2, 3, 28, 28, generator=torch.Generator().manual_seed(0))
    exact = network_error(network, rgb).worst
    with torch.autocast("cpu", dtype):
        rounded = network_error(network, rgb).worst
    assert exact < 1e-5 < rounded < bound
