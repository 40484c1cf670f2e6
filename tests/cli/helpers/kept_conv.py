# Bytes that PyTorch keeps of a network of convolutions, and its parameters.
# SPDX-License-Identifier: MIT
"""kept_conv.py BATCH IMAGE CHANNELS CLASSES STEPS

STEPS are the words of models.csv. The blocks are plain modules, written as
torchvision computes them, ReLU in place.
"""
import re
import sys

import torch
from torch import nn

from kept_torch import kept


def conv(of, to, kernel=1, stride=1, groups=1, bias=False, padding=None):
    padding = (kernel - 1) // 2 if padding is None else padding
    return nn.Conv2d(of, to, kernel, stride, padding, groups=groups, bias=bias)


def relu():
    return nn.ReLU(inplace=True)


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Residual(nn.Module):
    """A sum, and what comes behind it."""

    def __init__(self, inner, shortcut=None, act=None):
        super().__init__()
        self.inner, self.shortcut, self.act = inner, shortcut, act

    def forward(self, x):
        y = self.inner(x)
        y = y + (self.shortcut(x) if self.shortcut else x)
        return self.act(y) if self.act else y


class Squeeze(nn.Module):
    def __init__(self, width, narrow):
        super().__init__()
        self.one = conv(width, narrow, bias=True)
        self.two = conv(narrow, width, bias=True)

    def forward(self, x):
        scale = nn.functional.adaptive_avg_pool2d(x, 1)
        scale = self.two(nn.functional.silu(self.one(scale)))
        return torch.sigmoid(scale) * x


class Next(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.depth = conv(width, width, 7, groups=width, bias=True)
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.ones(width, 1, 1))

    def forward(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = self.down(nn.functional.gelu(self.up(y)))
        return x + self.scale * y.permute(0, 3, 1, 2)


class Dense(nn.Module):
    def __init__(self, width, growth):
        super().__init__()
        self.inner = nn.Sequential(
            nn.BatchNorm2d(width), relu(), conv(width, 4 * growth),
            nn.BatchNorm2d(4 * growth), relu(), conv(4 * growth, growth, 3))

    def forward(self, features):
        return features + [self.inner(torch.cat(features, 1))]


class DenseBlock(nn.Module):
    def __init__(self, width, growth, count):
        super().__init__()
        self.layers = nn.ModuleList(
            Dense(width + i * growth, growth) for i in range(count))

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features = layer(features)
        return torch.cat(features, 1)


class Builder:
    def __init__(self, channels, classes):
        self.width, self.classes, self.modules = channels, classes, []
        self.side = 1  # where an average has set it

    def normed(self, n, act, bias=False):
        of, self.width = self.width, n["size"]
        return [conv(of, n["size"], n["k"], n["s"], n["g"], bias, n.get("p")),
                nn.BatchNorm2d(n["size"]), act()]

    def shortcut(self, of, to, stride):
        if stride == 1 and of == to:
            return None
        return nn.Sequential(conv(of, to, 1, stride), nn.BatchNorm2d(to))

    def basic(self, n):
        of, to = self.width, n["size"]
        inner = [conv(of, to, 3, n["s"]), nn.BatchNorm2d(to), relu(),
                 conv(to, to, 3), nn.BatchNorm2d(to)]
        self.width = to
        return [Residual(nn.Sequential(*inner), self.shortcut(of, to, n["s"]),
                         relu())]

    def bottle(self, n):
        of, to, middle = self.width, n["size"], n["i"]
        inner = [conv(of, middle), nn.BatchNorm2d(middle), relu(),
                 conv(middle, middle, 3, n["s"], n["g"]),
                 nn.BatchNorm2d(middle), relu(),
                 conv(middle, to), nn.BatchNorm2d(to)]
        self.width = to
        return [Residual(nn.Sequential(*inner), self.shortcut(of, to, n["s"]),
                         relu())]

    def widened(self, n, act, has_squeeze):
        of, to, wide = self.width, n["size"], self.width * n["e"]
        inner = []
        if n["e"] > 1:
            inner += [conv(of, wide), nn.BatchNorm2d(wide), act()]
        inner += [conv(wide, wide, n["k"], n["s"], wide),
                  nn.BatchNorm2d(wide), act()]
        if has_squeeze:
            inner += [Squeeze(wide, max(1, of // 4))]
        inner += [conv(wide, to), nn.BatchNorm2d(to)]
        return self.maybe_residual(inner, of, n)

    def maybe_residual(self, inner, of, n):
        self.width = n["size"]
        inner = nn.Sequential(*inner)
        same = n["s"] == 1 and of == n["size"]
        return [Residual(inner) if same else inner]

    def fused(self, n):
        of, wide = self.width, self.width * n["e"]
        if n["e"] == 1:
            wide = n["size"]
        inner = [conv(of, wide, n["k"], n["s"]), nn.BatchNorm2d(wide),
                 nn.SiLU(inplace=True)]
        if n["e"] > 1:
            inner += [conv(wide, n["size"]), nn.BatchNorm2d(n["size"])]
        return self.maybe_residual(inner, of, n)

    def step(self, kind, n):
        of = self.width
        if kind in ("conv", "swish", "biased"):
            act = (lambda: nn.SiLU(inplace=True)) if kind == "swish" else relu
            return self.normed(n, act, kind == "biased")
        if kind == "plain":
            self.width = n["size"]
            return [conv(of, n["size"], n["k"], n["s"], bias=True,
                         padding=n.get("p")), relu()]
        if kind == "max":
            return [nn.MaxPool2d(n["size"], n["s"],
                                 n.get("p", (n["size"] - 1) // 2))]
        if kind == "inverted":
            return self.widened(n, lambda: nn.ReLU6(inplace=True), False)
        if kind == "mobile":
            return self.widened(n, lambda: nn.SiLU(inplace=True), True)
        if kind == "patches":
            self.width = n["size"]
            return [conv(of, n["size"], n["k"], n["k"], bias=True, padding=0),
                    LayerNorm2d(n["size"])]
        if kind == "next":
            return [Next(of)]
        if kind == "down":
            self.width = n["size"]
            return [LayerNorm2d(of),
                    conv(of, n["size"], 2, 2, bias=True, padding=0)]
        if kind == "transition":
            self.width = of // 2
            return [nn.BatchNorm2d(of), relu(), conv(of, of // 2),
                    nn.AvgPool2d(2, 2)]
        if kind == "end":
            return [nn.BatchNorm2d(of), relu()]
        if kind == "pool":
            self.side = n["size"]
            return [nn.AdaptiveAvgPool2d(self.side)]
        if kind == "full":
            self.width, of = n["size"], of * self.side**2
            self.side = 1
            return [nn.Flatten(), nn.Linear(of, self.width), relu()]
        if kind == "head" and self.modules[-2:-1] and isinstance(
                self.modules[-2], nn.Linear):
            return [nn.Linear(of, self.classes)]
        if kind == "head":
            return [nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                    nn.Linear(of, self.classes)]
        if kind == "normedhead":
            return [nn.AdaptiveAvgPool2d(1), LayerNorm2d(of), nn.Flatten(),
                    nn.Linear(of, self.classes)]
        return getattr(self, kind)(n)

    def add(self, word):
        kind, size, rest = re.fullmatch(r"([a-z]+)(\d*)(.*)", word).groups()
        n = {"k": {"patches": 4, "next": 7}.get(kind, 3), "s": 1, "g": 1,
             "e": 1, "x": 1, "size": int(size or 0), "i": int(size or 0)}
        n.update((letter, int(number))
                 for letter, number in re.findall(r"([a-z])(\d+)", rest))
        if kind == "dense":
            self.modules.append(DenseBlock(self.width, n["size"], n["x"]))
            self.width += n["size"] * n["x"]
            return
        for i in range(n["x"]):
            self.modules += self.step(kind, n if i == 0 else {**n, "s": 1})


class Net(nn.Module):
    def __init__(self, image, channels, classes, steps):
        super().__init__()
        builder = Builder(channels, classes)
        for word in steps.split():
            builder.add(word)
        self.shape = (channels, image, image)
        self.all = nn.Sequential(*builder.modules)

    def forward(self, batch, _):
        return self.all(torch.rand(batch, *self.shape)).sum()


def main():
    batch, image, channels, classes = (int(word) for word in sys.argv[1:5])
    torch.manual_seed(0)
    net = Net(image, channels, classes, sys.argv[5])
    print(sum(p.numel() for p in net.parameters()), kept(net, batch, 0))


if __name__ == "__main__":
    main()
