"""Exported networks give the logits of the network, for batches and images of any size, without norms."""

import pytest
import torch

from t3cen import convert, export
from t3cen.export import OLDEST, export_onnx, export_program
from t3cen.models import build
from t3cen.models.families import FAMILIES, accepting
from t3cen.nn import GroupConv2d

slow = pytest.mark.slow
exports = pytest.mark.skipif(torch.__version__ < OLDEST, reason="this PyTorch is refused")
TRIVIAL = ("plain", "gray", "gray_world", "white_patch")
GROUPS = {**{name: [""] for name in TRIVIAL}, "lcer": ["h3", "s3", "l3", "h2s3"], "ceconv": ["h3"]}
CYCLIC_ORDER_ONE = [("plain", ""), ("gray", ""), ("lcer", "s3"), ("lcer", "l3")]
"""Ordinary convolutions alone, of which a deep network once lost the batch that varies."""
FAMILY_CASES = [
    *(("z2cnn", family, group, {}) for family in FAMILIES for group in GROUPS.get(family, ["h3"])),
    ("z2cnn", "ceconv", "h3", {"separable": True}),
    *(("z2cnn", family, "h3", {"band_limit": {"lift": 4}}) for family in accepting("band_limit")),
    ("z2cnn", "t3cen", "h3s3", {"band_limit": True}),
    ("z2cnn", "t3cen_scale", "h3", {"band_limit": True}),
    ("z2cnn", "t3cen_light", "h3", {"light": {"axes": "illuminant"}}),
    *(("resnet18", family, group, {"width": 16}) for family, group in CYCLIC_ORDER_ONE),
    ("resnet18", "t3cen", "h4s4", {"width": 32}),
    ("resnet50", "t3cen", "h4", {"width": 16}),
]
CASES = [("z2cnn", "plain", "", {"width": 2}), *(pytest.param(case, marks=slow) for case in FAMILY_CASES)]
SIZES = [(2, 0, 0), (1, 0, 0), (5, 4, 1), (1, 1, 6)]
"""Batch, and what height and width have more than the image that is exported with."""
SMALLEST = {"resnet18": 9, "resnet50": 9}
"""The least side of an image of which no map is one pixel high or wide, where `side` is less."""
pytestmark = pytest.mark.filterwarnings("ignore")


def network(name, family, group, options):
    """In training mode, with running statistics that are not the initial ones; of the six like layers of Z2CNN, two."""
    torch.manual_seed(0)
    net = build(name, group, 4, family=family, **{"width": 8, **options}).train()
    if name == "z2cnn":
        net.layers = net.layers[:5]  # two convolutions and their norms, and the pooling
    with torch.no_grad():
        for batch in (4, 5, 6):
            net(images(batch, side(name), side(name)))
    return net


def side(name):
    return 28 if name == "z2cnn" else 8


def images(batch, height, width):
    return torch.rand(batch, 3, height, width, generator=torch.Generator().manual_seed(batch))


def inputs(name):
    """Noise of every size, and images of one colour, which leave every piece of an activation of length 0."""
    for batch, taller, wider in SIZES:
        yield images(batch, side(name) + taller, side(name) + wider)
    for value in (0.0, 0.5, 1.0):
        yield torch.full((1, 3, side(name), side(name)), value)


def assert_same(logits, net, rgb):
    with torch.no_grad():
        want = net.eval()(rgb)
    torch.testing.assert_close(logits / want.abs().max(), want / want.abs().max(), rtol=0, atol=1e-5)


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def exported(request):
    """Name, network and program, which takes most of the time of the two tests that ask for it."""
    name, family, group, options = request.param
    net = network(name, family, group, options)
    return name, net, export_program(net, (side(name), side(name)))


@exports
def test_program_matches_at_every_size(exported):
    name, net, program = exported
    targets = {str(node.target) for graph in program.graph_module.modules() for node in graph.graph.nodes}
    assert any("conv" in target for target in targets)
    assert not any("batch_norm" in target or "t3cen" in target for target in targets)
    for rgb in inputs(name):
        smaller = min(rgb.shape[-2:]) < SMALLEST.get(name, 0)
        assert_same(program.module(check_guards=not smaller)(rgb), net, rgb)
    if name in SMALLEST:
        rgb = images(1, SMALLEST[name], SMALLEST[name] + 1)
        assert_same(program.module()(rgb), net, rgb)


@exports
@pytest.mark.slow
def test_onnxruntime_matches_at_every_size(exported, tmp_path, monkeypatch):
    onnx, onnxruntime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    name, net, program = exported
    monkeypatch.setattr(export, "export_program", lambda *_: program)
    path = export_onnx(net, (side(name), side(name)), tmp_path / "net.onnx")
    kinds = [node.op_type for node in onnx.load(path).graph.node]
    assert kinds.count("Conv") >= sum(isinstance(layer, GroupConv2d) for layer in net.modules())
    assert "BatchNormalization" not in kinds
    session = onnxruntime.InferenceSession(str(path))
    for rgb in inputs(name):
        (logits,) = session.run(["logits"], {"image": rgb.numpy()})
        assert_same(torch.from_numpy(logits), net, rgb)


def test_an_older_pytorch_is_refused(monkeypatch):
    monkeypatch.setattr(export, "OLDEST", "99.1")
    with pytest.raises(RuntimeError, match=r"exports need PyTorch 99.1 or newer, this is .*; pip install 'torch>=99.1'"):
        export_program(network("z2cnn", "plain", "", {"width": 2}), (28, 28))


@exports
def test_images_out_of_range_are_refused_by_the_program():
    program = export_program(network("z2cnn", "plain", "", {"width": 2}), (28, 28)).module()
    with pytest.raises(RuntimeError, match=r"RGB values must lie in \[0, 1\]"):
        program(images(1, 28, 28) + 1)


@pytest.mark.parametrize("options", [{}, {"band_limit": True}])
def test_a_traced_network_takes_other_sizes(options):
    net = network("z2cnn", "t3cen", "h3", {"width": 4, **options}).eval()
    with torch.no_grad():
        traced = torch.jit.trace(net, images(2, 28, 28), check_trace=False)
        for rgb in inputs("z2cnn"):
            assert_same(traced(rgb), net, rgb)


class TwoMaps(torch.nn.Module):
    """A dictionary of two maps, one of half the size."""

    def __init__(self):
        super().__init__()
        self.down, self.norm = torch.nn.Conv2d(3, 8, 3, 2, 1), torch.nn.BatchNorm2d(8)
        self.up, self.out, self.aux = torch.nn.ConvTranspose2d(8, 8, 2, 2), torch.nn.Conv2d(8, 2, 1), torch.nn.Conv2d(8, 3, 1)

    def forward(self, rgb):
        maps = torch.relu(self.norm(self.down(rgb)))
        return {"out": self.out(torch.relu(self.up(maps))), "aux": self.aux(maps)}


@exports
@pytest.mark.slow
def test_a_dictionary_keeps_its_names(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    torch.manual_seed(0)
    net = convert(TwoMaps(), "h3").eval()
    path = export_onnx(net, (16, 16), tmp_path / "net.onnx")
    rgb = images(3, 20, 28)
    with torch.no_grad():
        want = net(rgb)
    maps = onnxruntime.InferenceSession(str(path)).run(["out", "aux"], {"image": rgb.numpy()})
    for name, found in zip(("out", "aux"), maps, strict=True):
        torch.testing.assert_close(torch.from_numpy(found), want[name], rtol=1e-4, atol=1e-5)
