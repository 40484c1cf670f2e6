# Bytes that PyTorch keeps for the backward pass of small models, on the CPU.
# SPDX-License-Identifier: MIT
"""kept_torch.py MODEL BATCH SEQUENCE RANK [FIELD=COUNT...]

MODEL is gpt2, llama, vit, opt (but for its positions) or t5: plain modules,
written as transformers computes them. With a RANK the weights are frozen and q and v have adapters. The loss is
the sum of the last norm's output times a head: logits are not counted.
"""
import sys

import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        wide = x.to(torch.float32)
        # mean() of PyTorch 1.13 keeps its input, that of 2 only its sizes.
        variance = wide.pow(2).sum(-1, keepdim=True) / x.shape[-1]
        wide = wide * torch.rsqrt(variance + 1e-6)
        return self.weight * wide.to(x.dtype)


class Adapted(nn.Module):
    """A linear layer that is frozen, and its adapter."""

    def __init__(self, inner, rank):
        super().__init__()
        self.inner = inner
        self.a = nn.Linear(inner.in_features, rank, bias=False)
        self.b = nn.Linear(rank, inner.out_features, bias=False)

    def forward(self, x):
        return self.inner(x) + self.b(self.a(x)) * 2.0


def turned(x):
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), dim=-1)


class Attention(nn.Module):
    """Looks at its own input, or at memory where that is given."""

    def __init__(self, n, kind, has_mask):
        super().__init__()
        is_rotary = kind == "llama"
        self.n, self.is_rotary, self.has_mask = n, is_rotary, has_mask
        self.width = n["head_dim"]
        query, kv = n["heads"] * self.width, n["kv_heads"] * self.width
        bias = kind not in ("llama", "t5")
        self.q = nn.Linear(n["hidden"], query, bias=bias)
        self.k = nn.Linear(n["hidden"], kv, bias=bias)
        self.v = nn.Linear(n["hidden"], kv, bias=bias)
        self.o = nn.Linear(query, n["hidden"], bias=bias)

    def split(self, x, heads):
        batch, length, _ = x.shape
        return x.view(batch, length, heads, self.width).transpose(1, 2)

    def repeated(self, x):
        batch, heads, length, width = x.shape
        times = self.n["heads"] // heads
        if times == 1:
            return x
        x = x[:, :, None].expand(batch, heads, times, length, width)
        return x.reshape(batch, heads * times, length, width)

    def forward(self, x, cos, sin, memory=None):
        seen = x if memory is None else memory
        q = self.split(self.q(x), self.n["heads"])
        k = self.split(self.k(seen), self.n["kv_heads"])
        v = self.split(self.v(seen), self.n["kv_heads"])
        if self.is_rotary:
            q = q * cos + turned(q) * sin
            k = k * cos + turned(k) * sin
        k, v = self.repeated(k), self.repeated(v)
        scores = q @ k.transpose(2, 3) / self.width**0.5
        if self.has_mask:
            length = x.shape[1]
            mask = torch.full((length, length), float("-inf")).triu(1)
            scores = scores + mask
        scores = F.softmax(scores, dim=-1, dtype=torch.float32).to(x.dtype)
        out = (scores @ v).transpose(1, 2).contiguous()
        return self.o(out.reshape(*x.shape[:2], -1))


class PlainMLP(nn.Module):
    def __init__(self, n, kind):
        super().__init__()
        self.act = F.relu if kind in ("opt", "t5") else F.gelu
        self.up = nn.Linear(n["hidden"], n["ffn"])
        self.down = nn.Linear(n["ffn"], n["hidden"])

    def forward(self, x):
        return self.down(self.act(self.up(x)))


class GatedMLP(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gate = nn.Linear(n["hidden"], n["ffn"], bias=False)
        self.up = nn.Linear(n["hidden"], n["ffn"], bias=False)
        self.down = nn.Linear(n["ffn"], n["hidden"], bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, n, kind, has_mask, is_decoder=False):
        super().__init__()
        norm = RMSNorm if kind in ("llama", "t5") else nn.LayerNorm
        is_gated = kind == "llama" or n.get("gated")
        self.one, self.two = norm(n["hidden"]), norm(n["hidden"])
        self.attention = Attention(n, kind, has_mask)
        self.mlp = GatedMLP(n) if is_gated else PlainMLP(n, kind)
        if is_decoder:
            self.three = norm(n["hidden"])
            self.cross = Attention(n, kind, False)

    def forward(self, x, cos, sin, memory=None):
        x = x + self.attention(self.one(x), cos, sin)
        if memory is not None:
            x = x + self.cross(self.three(x), cos, sin, memory)
        return x + self.mlp(self.two(x))


class Model(nn.Module):
    def __init__(self, kind, n):
        super().__init__()
        self.kind, self.n = kind, n
        hidden = n["hidden"]
        norm = RMSNorm if kind in ("llama", "t5") else nn.LayerNorm
        if kind == "vit":
            self.patches = nn.Conv2d(
                n["channels"], hidden, n["patch"], stride=n["patch"]
            )
            tokens = (n["image"] // n["patch"]) ** 2 + 1
            self.first = nn.Parameter(torch.zeros(1, 1, hidden))
            self.places = nn.Parameter(torch.zeros(1, tokens, hidden))
        else:
            self.words = nn.Embedding(n["vocab"], hidden)
        if kind == "gpt2":
            self.places = nn.Embedding(n["positions"], hidden)
        self.layers = nn.ModuleList(
            Layer(n, kind, kind not in ("vit", "t5"))
            for _ in range(n["layers"])
        )
        self.norm = norm(hidden)
        if kind == "t5":
            self.memory_norm = norm(hidden)
            self.decoder = nn.ModuleList(
                Layer(n, kind, True, is_decoder=True)
                for _ in range(n["decoder_layers"])
            )
        self.head = nn.Linear(hidden, 1, bias=False)

    def start(self, batch, sequence):
        if self.kind == "vit":
            side = self.n["image"]
            x = self.patches(torch.rand(batch, self.n["channels"], side, side))
            x = x.flatten(2).transpose(1, 2)
            first = self.first.expand(batch, -1, -1)
            return torch.cat((first, x), dim=1) + self.places
        x = self.words(torch.randint(self.n["vocab"], (batch, sequence)))
        if self.kind == "gpt2":
            x = x + self.places(torch.arange(sequence))
        return x

    def forward(self, batch, sequence):
        x = self.start(batch, sequence)
        angles = torch.rand(x.shape[1], self.n["head_dim"])
        cos, sin = angles.cos(), angles.sin()
        for layer in self.layers:
            x = layer(x, cos, sin)
        if self.kind == "t5":
            memory = self.memory_norm(x)
            x = self.start(batch, sequence)
            for layer in self.decoder:
                x = layer(x, cos, sin, memory)
        return self.head(self.norm(x)).sum()


def adapt(model, rank):
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for layer in model.layers:
        attention = layer.attention
        attention.q = Adapted(attention.q, rank)
        attention.v = Adapted(attention.v, rank)


def kept(model, batch, sequence):
    """Each storage once, without parameters."""
    own = {p.storage().data_ptr() for p in model.parameters()}
    found = {}

    def pack(tensor):
        storage = tensor.storage()
        found[storage.data_ptr()] = storage.nbytes()
        held.append(tensor)  # so that no address is used twice
        return tensor

    held = []
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        loss = model(batch, sequence)
    assert loss.requires_grad
    return sum(size for place, size in found.items() if place not in own)


def main():
    kind, batch, sequence, rank, *fields = sys.argv[1:]
    n = {name: int(value) for name, value in (f.split("=") for f in fields)}
    n.setdefault("kv_heads", n["heads"])
    n.setdefault("head_dim", n["hidden"] // n["heads"])
    torch.manual_seed(0)
    model = Model(kind, n)
    if int(rank):
        adapt(model, int(rank))
    print(kept(model, int(batch), int(sequence)))


if __name__ == "__main__":
    main()
