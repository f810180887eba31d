"""The predecessors' networks as their papers and state dicts describe them: layouts, names and forward passes."""

import torch
from torch import nn
from torch.nn import functional as F


class LCERConv(nn.Module):
    """`(B, N M C, H, W)`: hue rolls the filters, saturation or luminance moves them and leaves zeros."""

    def __init__(self, inputs, outputs, kernel, orders, stride=1):
        super().__init__()
        self.orders, self.stride = orders, stride
        shape = torch.Size(orders).numel() * inputs, kernel, kernel
        self.conv_weight = nn.Parameter(torch.randn(outputs, *shape) / shape[0] ** 0.5)
        self.register_buffer("group_conv_weight", torch.zeros(torch.Size(orders).numel() * outputs, *shape))

    def forward(self, x):
        (hues, steps), banks = self.orders, []
        weight = self.conv_weight.unflatten(1, (hues, steps, -1))
        for i in range(hues):
            for shift in range(-(steps // 2), steps // 2 + 1):
                bank = torch.roll(weight, (i, shift), (1, 2))
                if shift > 0:
                    bank[:, :, :shift] = 0
                elif shift < 0:
                    bank[:, :, shift:] = 0
                banks.append(bank.flatten(1, 3) / ((steps - abs(shift)) / steps))
        return F.conv2d(x, torch.cat(banks), None, self.stride, self.conv_weight.shape[-1] // 2)


class LCERNorm(nn.Module):
    """One statistic a channel for all group elements."""

    def __init__(self, channels):
        super().__init__()
        self.batch_norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        channels = self.batch_norm.num_features
        return self.batch_norm(x.reshape(-1, channels, *x.shape[2:])).view(x.shape)


class CELift(nn.Module):
    """`(B, 3, H, W)` to `(B, C, N, H, W)`: filters multiplied by powers of a rotation of RGB."""

    def __init__(self, outputs, kernel, matrix, order):
        super().__init__()
        self.order = order
        self.weight = nn.Parameter(torch.randn(outputs, 3, 1, kernel, kernel) / 3)
        self.register_buffer("transformation_matrix", matrix)

    def forward(self, x):
        maps = []
        for n in range(self.order):
            turned = torch.linalg.matrix_power(self.transformation_matrix, n)
            maps.append(F.conv2d(x, torch.einsum("dc,ochw->odhw", turned, self.weight[:, :, 0]), padding=1))
        return torch.stack(maps, 2)


class CEConv(nn.Module):
    """`(B, C, N, H, W)`: output i sees the filters rolled by i."""

    def __init__(self, inputs, outputs, kernel, order, stride=1, separable=False):
        super().__init__()
        self.order, self.stride = order, stride
        plane = 1 if separable and kernel > 1 else order
        self.weight = nn.Parameter(torch.randn(outputs, inputs, plane, kernel, kernel) / (inputs * order) ** 0.5)
        if separable:
            self.pointwise_weight = nn.Parameter(torch.randn(outputs, inputs, order, 1, 1))

    def forward(self, x):
        weight = self.weight * self.pointwise_weight if hasattr(self, "pointwise_weight") else self.weight
        banks = [torch.roll(weight, i, 2).flatten(1, 2) for i in range(self.order)]
        padding = weight.shape[-1] // 2
        return torch.stack([F.conv2d(x.flatten(1, 2), bank, None, self.stride, padding) for bank in banks], 2)


class Block(nn.Module):
    def __init__(self, conv, norm, inputs, outputs, stride):
        super().__init__()
        self.conv1, self.bn1 = conv(inputs, outputs, 3, stride=stride), norm(outputs)
        self.conv2, self.bn2 = conv(outputs, outputs, 3), norm(outputs)
        self.shortcut = nn.Sequential()
        if stride > 1 or inputs != outputs:
            self.shortcut = nn.Sequential(conv(inputs, outputs, 1, stride=stride), norm(outputs))

    def forward(self, x):
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(out + self.shortcut(x))


class ResNet18(nn.Module):
    """Named as LCER's (`layer1`, ...) or CEConv's (`layers.0`, ...); `pool` maps the last features to those of `linear`."""

    def __init__(self, stem, conv, norm, widths, features, classes, pool, numbered):
        super().__init__()
        self.conv1, self.bn1, self.pool = stem, norm(widths[0]), pool
        stages, inputs = [], widths[0]
        for stage, width in enumerate(widths):
            first = Block(conv, norm, inputs, width, 2 if stage else 1)
            stages.append(nn.Sequential(first, Block(conv, norm, width, width, 1)))
            inputs = width
        if numbered:
            self.layers = nn.ModuleList(stages)
        else:
            for number, stage in enumerate(stages, 1):
                setattr(self, f"layer{number}", stage)
        self.stages = tuple(stages)
        self.linear = nn.Linear(features, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        for stage in self.stages:
            x = stage(x)
        return self.linear(self.pool(x))
