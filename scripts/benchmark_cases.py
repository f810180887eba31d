"""What `benchmark.py` times: each suite is a list of groups of cases that are compared with each other."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from t3cen.algebra.bilinear import cyclic_convolution
from t3cen.groups import ColorGroup
from t3cen.models import build
from t3cen.nn import GroupBatchNorm2d, GroupBatchNormAct2d, GroupConv2d, HSLLifting
from t3cen.nn.inference import for_inference
from t3cen.training.cost import macs, parameters

ROOT = Path(__file__).resolve().parent.parent
STAGES = ((1, 32), (2, 16), (4, 8), (8, 4))  # width over the first one's, and image size, of ResNet18's stages at 32x32


@dataclass(frozen=True)
class Options:
    """What the command line chose."""

    network: str
    size: int
    width: int
    batch: int
    groups: tuple[str, ...]
    skip: tuple[str, ...]
    device: str


@dataclass(frozen=True)
class Case:
    """One thing to time: `make()` prepares it and returns the call.

    `plain`, `direct` and `discrete` name the cases it is compared with; `network` says how a fresh process makes it again.
    """

    name: str
    make: Callable[[], Callable[[], Any]]
    plain: str = ""
    direct: str = ""
    discrete: str = ""
    items: int = 0
    network: dict[str, Any] | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class TorchConv2d(nn.Module):
    """PyTorch's own convolution on `(B, 1, C, H, W)`: what the plain network is made of elsewhere."""

    def __init__(self, conv: GroupConv2d) -> None:
        super().__init__()
        self.conv = nn.Conv2d(
            conv.in_channels,
            conv.out_channels,
            conv.kernel_size,
            conv.stride,
            conv.padding,
            conv.dilation,
            bias=conv.bias is not None,
        )

    def forward(self, input: Tensor) -> Tensor:
        return self.conv(input[:, 0])[:, None]


class TorchNormAct(nn.Module):
    """PyTorch's own batch norm, residual sum and ReLU on `(B, 1, C, H, W)`."""

    def __init__(self, norm: GroupBatchNorm2d) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(norm.num_features)
        self.relu = nn.ReLU(inplace=True) if isinstance(norm, GroupBatchNormAct2d) else nn.Identity()

    def forward(self, input: Tensor, shortcut: Tensor | None = None) -> Tensor:
        out = self.norm(input[:, 0])
        return self.relu(out if shortcut is None else out + shortcut[:, 0])[:, None]


def network(name: str, group: str, backend: str, **options: Any) -> nn.Module:
    """`backend` "torch" is the plain network made of PyTorch's own operations alone, "continuous" the band-limited one."""
    ours = "auto" if backend in ("torch", "continuous") else backend
    family = {"family": "t3cen" if group else "plain", "band_limit": backend == "continuous"}
    net = build(name, group, 10, backend=ours, **{**family, **options})
    if backend == "torch":
        for parent in list(net.modules()):
            for key, child in list(parent.named_children()):
                if isinstance(child, GroupConv2d):
                    setattr(parent, key, TorchConv2d(child))
                elif isinstance(child, GroupBatchNorm2d):
                    setattr(parent, key, TorchNormAct(child))
    return net


def step(net: nn.Module, options: Options) -> Callable[[], None]:
    """One training step without the optimiser: forward, loss, backward."""
    net = net.to(options.device)
    generator = torch.Generator().manual_seed(0)
    images = torch.rand(options.batch, 3, options.size, options.size, generator=generator).to(options.device)
    labels = torch.randint(0, 10, (options.batch,), generator=generator).to(options.device)

    def call() -> None:
        net.zero_grad()
        F.cross_entropy(net(images), labels).backward()
        if images.is_cuda:
            torch.cuda.synchronize()

    return call


def training_case(
    options: Options,
    name: str,
    group: str,
    backend: str,
    floors: dict[str, float] | None = None,
    build: dict[str, Any] | None = None,
    **links: str,
) -> Case:
    """A training step of one network, with its multiply-accumulates, parameters and what is known of its floors."""
    made: dict[str, Any] = {"name": options.network, "group": group, "backend": backend, **(build or {})}
    net = network(**made)
    facts: dict[str, Any] = {"macs": macs(net, (options.size, options.size)), "parameters": parameters(net), **(floors or {})}
    return Case(name, lambda: step(network(**made), options), network=made, facts=facts, **links)


def networks(options: Options) -> list[list[Case]]:
    """A training step of the plain network, and of the direct and the Fourier form at every group."""

    def case(name: str, group: str, backend: str, **links: str) -> Case:
        floors = {}
        if group and backend != "direct":
            parsed = ColorGroup.parse(group)
            floors["arithmetic_floor"] = cyclic_convolution(parsed.orders).rank / parsed.order
            floors["traffic_floor"] = parsed.order**0.5
        return training_case(options, name, group, backend, floors, **links)

    cases = [case("plain (nn.Conv2d)", "", "torch"), case("plain (order 1)", "", "auto", plain="plain (nn.Conv2d)")]
    for group in options.groups:
        for backend in ("direct", "auto"):
            links = {"plain": "plain (nn.Conv2d)", "direct": f"{group} direct"}
            name = f"{group} {'direct' if backend == 'direct' else 'fourier'}"
            if not any(word in name for word in options.skip):
                cases.append(case(name, group, backend, **links))
    return [cases]


def continuous(options: Options) -> list[list[Case]]:
    """A training step of the discrete network and of the band-limited one of the same group."""
    return [
        [
            training_case(options, group, group, "auto"),
            training_case(options, f"{group} continuous", group, "continuous", discrete=group),
        ]
        for group in options.groups
    ]


def light(options: Options) -> list[list[Case]]:
    """A training step of the plain network, and of networks equivariant to light: both kinds, illuminant or exposure alone."""

    def case(name: str, group: str, axes: str = "channels", points: int | None = 2, **links: str) -> Case:
        limit = False if points is None else {"activation": points}
        made = {"family": "t3cen_light", "light": {"axes": axes}, "band_limit": limit}
        return training_case(options, name, group, "auto", build=made, plain="plain", **links)

    return [
        [
            training_case(options, "plain", "", "auto"),
            case("3x3x3", "h3s3l3", points=None),
            case("3x3x3 continuous", "h3s3l3", discrete="3x3x3"),
            case("illuminant 3x3 continuous", "s3l3", "illuminant"),
            case("exposure 5 continuous", "h5", "illuminant"),
        ]
    ]


def inference(options: Options) -> list[list[Case]]:
    """Images a second through a network in evaluation, as it is and with norms and filter transforms folded."""

    def case(name: str, group: str, backend: str, folded: bool = False, **links: str) -> Case:
        def make() -> Callable[[], Any]:
            images = torch.rand(options.batch, 3, options.size, options.size).to(options.device)
            net = network(options.network, group, backend).to(options.device).eval()
            return _without_gradient(for_inference(net, images) if folded else net, images)

        return Case(name, make, items=options.batch, **links)

    plain = {"plain": "plain (nn.Conv2d)"}
    cases = [case("plain (nn.Conv2d)", "", "torch"), case("plain (order 1), folded", "", "auto", True, **plain)]
    for group in options.groups:
        links = plain | {"direct": f"{group} direct"}
        cases.append(case(f"{group} direct", group, "direct", **links))
        cases.append(case(f"{group} fourier", group, "auto", **links))
        cases.append(case(f"{group} fourier, folded", group, "auto", True, **links))
    return [[case for case in cases if not any(word in case.name for word in options.skip)]]


def layers(options: Options) -> list[list[Case]]:
    """Forward and backward of the 3x3 convolution of every stage of ResNet18, at equal parameters."""
    found = []
    for times, size in STAGES:
        width, cases = times * options.width, []
        for group in ("", *options.groups):
            for backend in ("direct", "fourier") if group else ("torch", "fourier"):
                name = f"{width}/{size}x{size} {group or 'plain'} {backend}"
                if not any(word in name for word in options.skip):
                    links = {"plain": f"{width}/{size}x{size} plain torch", "direct": f"{width}/{size}x{size} {group} direct"}
                    make = _layer(ColorGroup.parse(group), width, size, backend, options)
                    cases.append(Case(name, make, **(links if backend != "torch" else {})))
        found.append(cases)
    return found


def _layer(group: ColorGroup, width: int, size: int, backend: str, options: Options) -> Callable[[], Callable[[], Any]]:
    def make() -> Callable[[], Any]:
        channels = int(width / group.order**0.5)
        conv = GroupConv2d(channels, channels, 3, group, padding=1, bias=False, backend="auto" if backend == "torch" else backend)
        layer = (TorchConv2d(conv) if backend == "torch" else conv).to(options.device)
        x = torch.randn(options.batch, group.order, channels, size, size, device=options.device, requires_grad=True)
        gradient = torch.randn_like(x)
        inputs = [x, *layer.parameters()]
        return lambda: torch.autograd.grad(layer(x), inputs, gradient)

    return make


def lifting(options: Options) -> list[list[Case]]:
    """Images a second through the lifting alone, forward."""
    cases = []
    for size in (32, 96, 224):
        for group in options.groups:
            images = torch.rand(options.batch, 3, size, size, device=options.device)
            lift = HSLLifting(ColorGroup.parse(group)).to(options.device)
            call = _without_gradient(lift, images)
            cases.append(Case(f"{size}x{size} {group}", lambda call=call: call, items=options.batch))
    return [cases]


def _without_gradient(module: nn.Module, images: Tensor) -> Callable[[], None]:
    @torch.no_grad()
    def call() -> None:
        module(images)
        if images.is_cuda:
            torch.cuda.synchronize()

    return call


def data(options: Options) -> list[list[Case]]:
    """Items a second out of the training loader of the bundled digits, without and with worker processes."""
    from t3cen.data import MNIST

    def make(workers: int) -> Callable[[], Any]:
        digits = MNIST(root=ROOT / "data", source="bundled", batch_size=64, num_workers=workers, seed=0, train_size=1024)
        digits.setup("fit")
        loader = digits.train_dataloader()
        return lambda: sum(1 for _ in loader)

    return [[Case(f"bundled digits, {n} workers", lambda n=n: make(n), items=1024) for n in (0, 2)]]


def startup(options: Options) -> list[list[Case]]:
    """Seconds until an import or a help text is there, each in a fresh process."""
    commands = {
        "python -c pass": ["-c", "pass"],
        "import t3cen": ["-c", "import t3cen"],
        "import t3cen.nn": ["-c", "import t3cen.nn"],
        "import torch": ["-c", "import torch"],
        "train.py --help": ["train.py", "--help"],
    }

    def run(args: list[str]) -> Callable[[], Any]:
        return lambda: subprocess.run([sys.executable, *args], cwd=ROOT, check=True, capture_output=True)

    return [[Case(name, lambda args=args: run(args), plain="python -c pass") for name, args in commands.items()]]


SUITES = {
    "networks": networks,
    "continuous": continuous,
    "light": light,
    "inference": inference,
    "layers": layers,
    "lifting": lifting,
    "data": data,
    "startup": startup,
}


def peak_memory(case: Case, options: Options, threads: int) -> int:
    """Bytes a fresh process needs for training steps of the case, beyond what it had before the network was built."""
    numbers = asdict(options)
    command = [
        sys.executable,
        str(ROOT / "scripts" / "benchmark.py"),
        "--child",
        json.dumps(case.network),
        "--threads",
        str(threads),
    ]
    command += [word for key in ("network", "size", "batch", "device") for word in (f"--{key}", str(numbers[key]))]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def run_child(made: str, options: Options, threads: int) -> int:
    """A training step, then the peak: of the device's allocations, or of this process's resident memory.

    On a device a step comes before, so that what its libraries allocate once is not counted.
    """
    torch.set_num_threads(threads)
    if options.device != "cpu":
        call = step(network(**json.loads(made)), options)
        call()
        torch.cuda.reset_peak_memory_stats()
        call()
        return torch.cuda.max_memory_allocated()
    before = _resident("VmRSS")
    step(network(**json.loads(made)), options)()
    return _resident("VmHWM") - before


def _resident(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"this system does not report {key} in /proc/self/status, so peak memory cannot be measured")
