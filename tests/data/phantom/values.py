#!/usr/bin/env python3
# Programs by what they do with the values of a card, each a few steps long.
# SPDX-License-Identifier: MIT
"""For tests/cli/phantom_values.py: values.py NAME. What the programs of DOUBTFUL
do, or how much memory they need, depends on values that only a card computes;
what those of PLAIN do does not."""
import math
import sys
import tempfile
import types

import torch
from torch import nn
from torch.nn import functional

WIDTH, ROWS, LENGTH = 64, 32, 16
CPU_MASK = torch.ones(ROWS, LENGTH, dtype=torch.long)


class Scene:
    """What one step of a program finds."""

    def __init__(self):
        self.model = nn.Linear(WIDTH, WIDTH).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        self.best = math.inf
        self.total = 0.0
        self.seen = []
        self.scaler = torch.amp.GradScaler()

    def step(self):
        self.x = torch.randn(ROWS, WIDTH, device="cuda")
        self.y = self.model(self.x)
        self.loss = self.y.pow(2).mean()


def mask(s):
    s.y[s.y[:, 0] > 0].sum()


def masked_select(s):
    torch.masked_select(s.y, s.y > 0).sum()


def nonzero(s):
    (s.y > 0).nonzero()


def where(s):
    torch.where(s.y > 0)


def unique(s):
    torch.unique(s.y.argmax(-1))


def repeat(s):
    s.y.repeat_interleave(s.y.argmax(-1).clamp(max=2), dim=0)


def bincount(s):
    torch.bincount(s.y.argmax(-1))


def experts(s):
    chosen = s.y.topk(2, dim=-1).indices % 4
    for expert in range(4):
        rows = torch.where((chosen == expert).any(-1))[0]
        s.y.index_select(0, rows).sum()


def experts_split(s):
    chosen = s.y.argmax(-1) % 4
    counts = torch.nn.functional.one_hot(chosen, 4).sum(0)
    s.y[chosen.argsort()].split(counts.tolist() + [ROWS], dim=0)


def loss_scaling(s):
    s.scaler.scale(s.loss).backward()
    s.scaler.step(s.optimizer)
    s.scaler.update()
    s.loss = s.loss.detach().requires_grad_()


def own_scaling(s):
    s.loss.backward(retain_graph=True)
    total = sum(p.grad.abs().sum() for p in s.model.parameters())
    if total.item() > 1e4:
        s.optimizer.zero_grad()


def while_tensor(s):
    tries = 0
    while s.y.abs().max() > 1e-3 and tries < 5:
        s.y = s.y / 2
        tries += 1


def while_not_converged(s):
    converged = False
    while not converged:
        s.y = s.y / 2
        converged = bool(s.y.abs().max() < 1e-3)


def until_loss(s):
    while s.loss.item() < 1:
        s.loss = s.loss * 2 + 1e-3


def item_branch(s):
    if s.loss.item() > 0.5:
        torch.empty(1 << 20, device="cuda")


def best_loss(s):
    if s.loss.item() < s.best:
        s.best = s.loss.item()
        [p.detach().clone() for p in s.model.parameters()]


def average_loss(s):
    s.total = 0.9 * s.total + 0.1 * s.loss.item()
    if round(s.total, 2) > 100:
        raise SystemExit("it diverges")


def largest(s):
    s.seen.append(s.loss.item())
    if max(s.seen) > 5:
        s.seen.clear()


def longest(s):
    lengths = (s.y > 0).sum(-1)
    s.y[:, : lengths.max().item()].sum()


def index(s):
    s.y[: s.y[0].argmax()].sum()


def as_int(s):
    torch.empty(int(s.y.sum()) + 1, device="cuda")


def to_host(s):
    keep = (s.y[:, 0] > 0).cpu()
    if keep.any():
        s.y[keep.nonzero()[:, 0]].sum()


def host_number(s):
    if s.loss.detach().cpu() < s.best:
        s.best = 0


def as_float(s):
    if float(s.loss) < s.best:
        s.best = 0


def assertion(s):
    try:
        assert (s.y > s.y.min()).any(), "all are the same"
    except AssertionError:
        torch.empty(1 << 20, device="cuda")


def inference(s):
    """Its tensors have no version that would tell of the change."""
    with torch.inference_mode():
        left = torch.ones(ROWS, dtype=torch.long, device="cuda")
        left *= (s.y[:, 0] > 0).long()
        also = torch.ones(ROWS, dtype=torch.long, device="cuda")
        also[:] = left
        if left.any() or also.mul_(left).any():
            torch.empty(1 << 20, device="cuda")


def all_of(s):
    if (s.y > 0).all():
        torch.empty(1 << 20, device="cuda")


def equal(s):
    if torch.equal(s.y, s.x):
        torch.empty(1 << 20, device="cuda")


def log_number(s):
    s.total += s.loss.item()
    print("loss %.3f, average %.3f" % (s.loss.item(), s.total / 3))
    print(f"perplexity {math.exp(s.loss.item()):.2f}")
    s.seen.append(s.loss.item())
    print("from %.3f to %.3f" % (min(s.seen), max(s.seen)), sorted(s.seen))


class Named(torch.Tensor):
    """As MetaTensor of MONAI: results have what stands in its objects."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        result = super().__torch_function__(function, types, args, kwargs)
        if isinstance(result, Named) and isinstance(args[0], Named):
            result.__dict__.update(args[0].__dict__)
        return result


def log_named(s):
    """Of a class of its own; the first values of it came from the host."""
    rows = torch.ones(ROWS).as_subclass(Named).cuda()
    print("loss %.3f" % (rows[0] * s.loss.detach()).item())


def longest_named(s):
    lengths = (s.y > 0).sum(-1).as_subclass(Named)
    s.y[:, : lengths.max().item()].sum()


def print_tensor(s):
    print("loss", s.loss, f"{s.loss:.3f}")


def health(s):
    if torch.isnan(s.loss) or not torch.isfinite(s.y).all():
        raise SystemExit("not a number")
    if not math.isfinite(s.loss.item()) or s.y.isinf().any().item():
        raise SystemExit("not a number")


def compiled(s):
    torch.nn.init.trunc_normal_(s.model.weight, std=0.02)


def asserted(s):
    assert (s.y <= s.y.abs()).all()
    assert s.loss.item() >= 0, "a square"


def misled(s):
    """It fails on zeros alone."""
    assert (s.y.abs() > 0).any(), "the model is dead"


def host_mask(s):
    """A mask from the data loader: its values are known."""
    inside = CPU_MASK.clone()
    inside[:, 12:] = 0
    inside = inside.to("cuda", non_blocking=True)
    if inside.bool().all() or inside.sum() == inside.numel():
        raise SystemExit("it has zeros")
    longest_row = inside.sum(1).max(dim=0).values
    if (inside.sum(-1) > 12).any() or inside.sum().item() != 12 * ROWS:
        raise SystemExit("rows are of 12, not of %s" % longest_row)


def host_rows(s):
    """What such a mask chooses is as large as it says."""
    inside = CPU_MASK.clone()
    inside[:, 12:] = 0
    inside = inside.cuda().bool()
    all_rows = s.y.unsqueeze(1).expand(-1, LENGTH, -1)
    rows = all_rows[inside]
    rows.pow(2).sum().backward(retain_graph=True)
    filled = torch.zeros(ROWS, LENGTH, WIDTH, device="cuda")
    filled[inside] = rows.detach()
    lengths = inside.sum(1)
    labels = torch.arange(ROWS * LENGTH, device="cuda").view(ROWS, LENGTH)
    labels = labels.masked_fill(~inside, -100).clamp_min(-1)
    seen = [
        len(rows), len(all_rows[labels != -1]), len(filled[inside, 1:]),
        len(filled[:, inside[0]][0]),
        len(inside.nonzero()), len(torch.where(inside)[1]),
        len(torch.masked_select(filled, inside.unsqueeze(-1))) // WIDTH,
        len(s.y.repeat_interleave(lengths, dim=0)),
        len(torch.repeat_interleave(lengths)), len(torch.unique(lengths)),
        len(torch.bincount(lengths)),
    ]
    if seen != 3 * [12 * ROWS] + [12] + 5 * [12 * ROWS] + [1, 13]:
        raise SystemExit("they are not %s" % seen)


def scattered(s):
    """As images among words: of a mask that only the card knows."""
    wide = torch.zeros(ROWS, 2 * WIDTH, device="cuda")
    wide.masked_scatter(s.y[:, :1] > 0, s.y).sum().backward(retain_graph=True)
    if s.model.weight.grad is None:
        raise SystemExit("no gradient comes through")


def grids(s):
    """As a model sees pictures of several sizes, which the loader knows."""
    sizes = torch.tensor([[2, 3], [1, 4]]).cuda()
    areas = torch.repeat_interleave(sizes.prod(1), sizes[:, 0])
    ends = functional.pad(areas.cumsum(0), (1, 0))
    for rows, columns in sizes:
        place = torch.arange(rows, device="cuda").unsqueeze(1)
        place.expand(-1, columns).reshape(rows * columns // 2, 2)
    starts = torch.tensor([ends[0], ends[2]], device="cuda")
    loss = torch.tensor([s.y.detach().sum(), s.loss.detach()], device="cuda")
    inside = (sizes > 2).unsqueeze(-1).expand_as(s.y[:4].view(2, 2, WIDTH))
    seen = (ends.tolist(), starts.tolist(), len(loss),
            functional.one_hot(sizes).shape[-1],
            len(s.y[:4].view(2, 2, WIDTH)[inside]),
            len(s.y[:, :ROWS][~torch.eye(ROWS, device="cuda").bool()]))
    if seen != ([0, 6, 12, 16], [0, 12], 2, 5, 2 * WIDTH,
                ROWS * (ROWS - 1)):
        raise SystemExit("they are not %s" % (seen,))


def speech(s):
    """Lengths are read where the loss is computed."""
    lengths = torch.full((4,), 3).cuda()
    known = torch.tensor([3, 2, 3, 1]).cuda()
    functional.ctc_loss(s.y.view(8, 4, WIDTH).log_softmax(-1),
                        torch.ones(9, dtype=torch.long).cuda(),
                        lengths * 2, known).backward(retain_graph=True)


def counted(s):
    """As many numbers as bins, whatever they are."""
    torch.histc(s.y.detach(), bins=8, min=0, max=8)


BOXES = compile("""
def check(boxes, loss):
    if not (boxes <= boxes.abs()).all() or not (boxes.abs() >= 0).all():
        raise ValueError("not its own size")
    if round(0.9 * loss.item(), 2) > 1e9:
        raise ValueError("the loss is %s" % loss)
""", "/usr/lib/python3/dist-packages/boxes.py", "exec")


def checked(s):
    """What would be an error in a library leads nowhere else."""
    space = {}
    exec(BOXES, space)
    space["check"](s.y, s.loss)
    torch.distributions.Categorical(logits=s.y).log_prob(
        torch.zeros(ROWS, device="cuda"))


def own_error(s):
    """A program may go on from its own error."""
    try:
        if (s.y > s.y.min()).any():
            raise ValueError("not the same")
    except ValueError:
        torch.empty(1 << 20, device="cuda")


def positions(s):
    """As a model of transformers looks for packed sequences."""
    place = torch.arange(LENGTH, device="cuda").unsqueeze(0)
    steps = torch.diff(place, prepend=place[:, :1] - 1, dim=-1)
    if not ((steps != 1).cumsum(-1)[:, -1] == 0).all():
        raise SystemExit("it is one sequence")


def clip(s):
    s.loss.backward(retain_graph=True)
    nn.utils.clip_grad_norm_(s.model.parameters(), 1.0,
                             error_if_nonfinite=True)


def save(s):
    with tempfile.TemporaryFile() as file:
        torch.save({"model": s.model.state_dict(), "loss": s.loss}, file)


def on_card(s):
    s.total = s.total + s.loss.detach()
    s.y.detach().float().cpu()


def mixed(s):
    with torch.autocast("cuda", dtype=torch.bfloat16):
        functional.cross_entropy(
            s.model(s.x), torch.randint(WIDTH, (ROWS,)).cuda()).backward()


def joined(x):
    rows = torch.cat([x, torch.ones_like(x), torch.stack([x, x]).sum(0)])
    rows = torch.where(rows > 0, rows, -rows).masked_fill(rows > 9, 9)
    rows += torch.zeros(rows.shape[1], device=rows.device)
    rows.mul_(2)
    rows[0] = 0
    places = torch.arange(rows.shape[0], device=rows.device)
    return torch.max(rows, dim=1).values.sum() + torch.sum(places)


def scripted(s):
    """TorchScript compiles what is there now."""
    torch.jit.script(joined)(s.y)


def traced(s):
    """And so does Dynamo, whatever it looked at before."""
    torch.compile(joined, backend="eager", fullgraph=True)(s.y)


def folded(s):
    """Inductor writes constants into what it compiles: 3 * 2, and 1 + 0.5."""
    from torch._inductor.fx_passes import joint_graph

    class Folder(joint_graph.UniformValueConstantFolder):
        def add_node_replacement(self, node, tensor):
            super().add_node_replacement(node, tensor)
            seen.add(self.node_replacements[node])

    seen = set()
    joint_graph.UniformValueConstantFolder = Folder
    torch._dynamo.reset()
    torch.compile(lambda x: x.masked_fill(x > 0, 0.25) + torch.full(
        (WIDTH,), 3, device="cuda") * 2 + (torch.ones(
            WIDTH, device="cuda") + 0.5))(s.x)
    if not {3, 6, 1, 1.5} <= seen:
        raise SystemExit("they are not %s" % seen)


def kept_data(s):
    """Hugging Face's datasets keep what map() computes for later runs."""
    data, forgotten = types.ModuleType("datasets"), []
    data.disable_caching = lambda: forgotten.append(True)
    sys.modules["datasets"] = data
    sys.modules.pop("colorsys", None)
    import colorsys  # noqa: F401

    if not forgotten:
        raise SystemExit("they are kept")


DOUBTFUL = (
    mask, masked_select, nonzero, where, unique, repeat, bincount, experts,
    experts_split, own_scaling, own_error, while_tensor,
    while_not_converged, until_loss, item_branch, best_loss, average_loss,
    largest, longest, longest_named, index, as_int, to_host, host_number,
    as_float, inference, all_of, assertion, equal)
PLAIN = (log_number, log_named, print_tensor, health, loss_scaling, asserted,
         compiled, host_mask, host_rows, scattered, grids, speech, counted,
         checked, positions, clip, save, on_card, mixed, scripted, traced,
         folded, kept_data)
FAILING = (misled,)


def main():
    if sys.argv[1] == "traced":
        # Its table of functions is made before the card is used.
        from torch._dynamo import trace_rules

        trace_rules.get_torch_obj_rule_map()
    named = {each.__name__: each for each in DOUBTFUL + PLAIN + FAILING}
    scene = Scene()
    for _ in range(3):
        scene.step()
        named[sys.argv[1]](scene)
        scene.loss.backward()
        scene.optimizer.step()
        scene.optimizer.zero_grad()


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print(" ".join(each.__name__ for each in DOUBTFUL))
        print(" ".join(each.__name__ for each in PLAIN))
    else:
        main()
