# Small trainings whose models take their batch in every shape.
# SPDX-License-Identifier: MIT
#
# Usage: hook_rows.py NAME. What it prints is the same without the hook.
import collections
import copy
import itertools
import os
import sys
import tempfile
import threading

import torch
import torch.utils.checkpoint

nn = torch.nn
ROWS = 5


def batch(rows=ROWS):
    return torch.ones(rows, 8)


class Net(nn.Module):
    """Takes whatever is around one batch."""

    def __init__(self, find):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 8), nn.ReLU())
        self.find = find

    def forward(self, *args, **kwargs):
        return self.body(self.find(*args, **kwargs))


def train(model, call, steps=9, passes=1):
    """
    One call of the model and what comes of it, for each pass of a step. After
    so many nobody looks on any more.
    """
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        for _ in range(passes):
            call().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    if steps > 8:
        print(sys.getprofile())


def takes(*args, **kwargs):
    """Trains a model that is called so; the batch is 5 x 8 somewhere in it."""

    def find(*given, **named):
        return batch()

    model = Net(find)
    train(model, lambda: model(*args, **kwargs))


class Record(object):
    def __init__(self):
        self.x = batch(9)


def positional():
    takes(batch())


def keywords():
    takes(labels=torch.tensor(3), flag=True, text="x", x=batch())


def dictionary():
    takes({"names": ["a"] * 9, "x": batch(), "y": batch(7)})


def nested():
    takes((None, [3, (batch(), batch(7))]), batch(9))


def too_deep():
    takes([[[[batch(9)]]]])


def encoding():
    takes(collections.UserDict(x=batch()))


def words_and_pictures():
    takes(pixels=batch(40), input_ids=batch())


def list_of_dictionaries():
    takes([{"id": i, "image": torch.ones(3, 4, 4)} for i in range(ROWS)])


def list_of_batches():
    ids = torch.ones(ROWS, 8, dtype=torch.long)
    takes([{"attention_mask": ids, "input_ids": ids} for _ in range(2)])


def list_of_pictures():
    takes([torch.ones(3, 4 + i, 4) for i in range(ROWS)], [{}] * ROWS)


def crops():
    takes([torch.ones(ROWS, 3, 4, 4), torch.ones(2 * ROWS, 3, 2, 2)])


def packed():
    pack = nn.utils.rnn.pack_sequence
    takes(pack([torch.ones(2, 8), torch.ones(1, 8)]))


def an_object():
    takes(Record(), torch.tensor(4))


def beside_an_object():
    takes(batch(), Record())


def empty():
    takes(batch(0), None)


def images():
    """Sizes of pictures, as transforms and losses see them, are no rows."""
    model = Net(lambda x: x)
    noise, loss = nn.Dropout(0.1), nn.MSELoss()

    def call():
        for _ in range(3):
            noise(torch.ones(3, 4, 4))
        return loss(model(batch()).view(-1), torch.ones(ROWS * 8))

    train(model, call)


def teacher():
    """Teachers, averages and evaluations come first, with more rows."""
    model = Net(lambda x: x)
    average = copy.deepcopy(model)
    frozen = copy.deepcopy(model).requires_grad_(False)

    def call():
        frozen(batch(9))
        with torch.no_grad():
            average(batch(8))
            model(batch(7))
        model.eval()
        model(batch(6))
        model.train()
        return model(batch())

    train(model, call)


def normed():
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))
    train(model, lambda: model(batch()))


def similarities(first, second, targets=None):
    """The loss of CLIP: which of all the others is a sample's own?"""
    scores = first @ second.t() * 2
    targets = torch.arange(len(scores)) if targets is None else targets
    ways = (scores, scores.t()) if len(scores) == len(scores.t()) else (scores,)
    return sum(nn.functional.cross_entropy(each, targets) for each in ways)


def compared():
    left, right = nn.Linear(8, 8), nn.Linear(8, 8)
    model = nn.ModuleList((left, right))
    train(model, lambda: similarities(left(batch()), right(batch())))


def compared_views():
    """Two views of each sample, put side by side, as in SimCLR."""
    model = nn.Linear(8, 8)

    def call():
        both = nn.functional.normalize(torch.cat((model(batch()),) * 2))
        return torch.logsumexp(torch.mm(both, both.T), 1)

    train(model, call)


def compared_by_einsum():
    model = nn.Linear(8, 8)

    def call():
        features = model(batch())
        return torch.einsum("nc,mc->nm", features, features).exp()

    train(model, call)


def compared_by_broadcasting():
    model = nn.Linear(8, 8)
    alike = nn.CosineSimilarity(dim=2)

    def call():
        features = model(batch())
        return alike(features.unsqueeze(1), features.unsqueeze(0)).exp()

    train(model, call)


def distances_by_expansion():
    model = nn.Linear(8, 8)

    def call():
        features = model(batch())
        pairs = features.unsqueeze(1).expand(ROWS, ROWS, 8), features
        return (pairs[0] - pairs[1].unsqueeze(0)).pow(2).sum(2)

    train(model, call)


def as_many_tokens():
    """As there are samples: of each token and of each sample one thing."""
    model = nn.Linear(1, 8)
    places = nn.Parameter(torch.zeros(1, ROWS, 8))

    def call():
        made = model(batch().unsqueeze(2)[:, :ROWS])
        return (made * made.mean(1, keepdim=True) + places).sin()

    train(model, call)


def covariances():
    """Of features, over the batch."""
    model = nn.Linear(8, 7)

    def call():
        features = model(batch())
        return (features.T @ features).square()

    train(model, call)


def kept_features():
    """Those of other passes are kept: they are compared within a step."""
    model = nn.Linear(8, 8)

    def call():
        others = torch.ones(ROWS, 8)
        whole = torch.cat((others, model(batch())))
        return similarities(whole, whole)

    train(model, call)


def queue():
    """The others are those of earlier steps, as many as there always are."""
    model = nn.Linear(8, 8)
    train(model, lambda: similarities(
        model(batch()), torch.ones(2 * ROWS, 8), torch.zeros(ROWS).long()))


def classes():
    """As many as there are samples, of a layer that has nothing but weights."""
    model = nn.Linear(8, ROWS, bias=False)
    train(model, lambda: nn.functional.cross_entropy(
        model(batch()), torch.arange(ROWS)))


def normed_before():
    """Its statistics are not those of the batch any more."""
    model = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))

    def call():
        model[1].eval()
        return model(batch())

    train(model, call)


def generator():
    """Two models that take turns, as in a GAN."""
    maker, judge = Net(lambda x: x), Net(lambda x: x)
    optimizers = [
        torch.optim.Adam(each.parameters()) for each in (maker, judge)
    ]
    for _ in range(4):
        for each in reversed(optimizers):
            judge(maker(batch())).sum().backward()
            each.step()
            each.zero_grad()


def last_batch():
    """The second batch is the last one of an epoch."""
    model = Net(lambda x: x)
    sizes = itertools.cycle([ROWS, 2, ROWS, 3])
    train(model, lambda: model(batch(next(sizes))))


def closure():
    model = Net(lambda x: x)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=2)

    def evaluate():
        optimizer.zero_grad()
        loss = model(batch()).sum()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(evaluate)


def accumulated():
    model = Net(lambda x: x)
    train(model, lambda: sum(model(batch()).sum() for _ in range(4)))


def one_step():
    model = Net(lambda x: x)
    train(model, lambda: model(batch()), steps=1)


def lengths():
    """As many rows each time, of other lengths."""
    model = nn.Embedding(9, 8)
    sizes = itertools.cycle([3, 3, 3, 3, 4])
    train(model, lambda: model(torch.ones(ROWS, next(sizes)).long()))


def left_out():
    """Every other step leaves layers out: its pass leaves less."""
    model = Net(lambda x: x)
    counts = itertools.cycle([1, 3])

    def call():
        large = model(batch()).repeat(1, 1 << 16)
        for _ in range(next(counts)):
            large = large.sigmoid()
        return large

    train(model, call)


def heavy():
    """32 MiB of parameters, as much of gradients, and twice for Adam."""
    model = nn.Embedding(4096, 2048)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(9):
        model(torch.ones(ROWS, 64).long()).sum().backward()
        optimizer.step()


def leaves():
    """39 MiB of what the rectifier gives are kept for the backward pass."""
    body = nn.Sequential(nn.Linear(8, 2048), nn.ReLU(), nn.Linear(2048, 8))
    train(body, lambda: body(batch(5000)))


def leaves_twice():
    """The same in each pass of two."""
    body = nn.Sequential(nn.Linear(8, 2048), nn.ReLU(), nn.Linear(2048, 8))
    train(body, lambda: body(batch(5000)), passes=2)


def one_gradient():
    """64 MiB that a pass takes are those of a gradient."""
    body = nn.Linear(4096, 4096, bias=False)
    train(body, lambda: body(torch.ones(ROWS, 4096)), passes=2)


def leaves_scores():
    """38 MiB of scores are kept by the loss, behind the last parameter."""
    body = nn.Linear(8, 2000)
    answers = torch.zeros(5000).long()
    loss = nn.functional.cross_entropy
    train(body, lambda: loss(body(batch(5000)), answers))


def leaves_anew():
    """Of what it leaves the backward pass needs the most, computed anew."""
    body = nn.Sequential(nn.Linear(8, 2048), nn.ReLU(), nn.Linear(2048, 8))
    x = batch(5000).requires_grad_()
    run = torch.utils.checkpoint.checkpoint
    train(body, lambda: run(body, x, use_reentrant=True))


def data_parallel():
    model = nn.DataParallel(Net(lambda x: x))
    train(model, lambda: model(batch()))


def distributed():
    with tempfile.TemporaryDirectory() as folder:
        torch.distributed.init_process_group(
            "gloo", "file://%s/meet" % folder, rank=0, world_size=1
        )
        model = nn.parallel.DistributedDataParallel(Net(lambda x: x))
        train(model, lambda: model(batch()))
        torch.distributed.destroy_process_group()


class Counting(Net):
    def __call__(self, *args, **kwargs):
        return super().__call__(*args, **kwargs)


class Alone(Net):
    def __call__(self, number):
        return self.forward(batch())


def overridden():
    model = Counting(lambda x: x)
    train(model, lambda: model(batch()))


def overridden_whole():
    """Its parts are called as any module is."""
    model = Alone(lambda x: x)
    train(model, lambda: model(3))


def replaced():
    """Others replace the call of all modules as well."""
    original = nn.Module.__call__

    def call(self, *args, **kwargs):
        return original(self, *args, **kwargs)

    nn.Module.__call__ = call
    positional()
    print(nn.Module.__call__ is call)


def scripted():
    model = torch.jit.script(nn.Linear(8, 8))
    train(model, lambda: model(batch()))


def traced():
    model = torch.jit.trace(nn.Linear(8, 8), batch(2))
    train(model, lambda: model(batch()))


def checkpointed():
    model = Net(lambda x: x)
    x = batch().requires_grad_()
    run = torch.utils.checkpoint.checkpoint
    train(model, lambda: run(model, x, use_reentrant=True))


def functional():
    weight = nn.Parameter(torch.ones(8, 8))
    holder = nn.ParameterList([weight])
    train(holder, lambda: nn.functional.linear(batch(), weight))


def mapped():
    """Each row by itself, as for gradients of each sample."""
    try:
        from torch.func import vmap
    except ImportError:
        from functorch import vmap
    model = Net(lambda x: x[None])
    train(model, lambda: vmap(model)(batch()))


def fails():
    """The error and its traceback are what they always are."""
    model = Net(lambda x: x)
    sizes = iter([8, 7])
    train(model, lambda: model(torch.ones(ROWS, next(sizes))))


def fails_once():
    model = Net(lambda x: x)
    train(model, lambda: model(batch()), steps=1)
    try:
        model(torch.ones(3, 7))
    except RuntimeError as error:
        print(type(error).__name__, sys.getprofile())


def profiled():
    """The user's own profile function stays, and sees what it always sees."""
    calls = []

    def see(frame, event, arg):
        if event == "call" and frame.f_code.co_name == "forward":
            calls.append(frame.f_code.co_name)

    sys.setprofile(see)
    model = Net(lambda x: x)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(batch()).sum().backward()
        optimizer.step()
    print(sys.getprofile() is see, len(calls))
    sys.setprofile(None)


def profiled_later():
    """It begins while the hook looks on."""

    def see(frame, event, arg):
        pass

    model = Net(lambda x: x)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(4):
        model(batch()).sum().backward()
        optimizer.step()
        sys.setprofile(see)
    print(sys.getprofile() is see)
    sys.setprofile(None)


def forked():
    """A child that is forked in between does not look on."""
    model = Net(lambda x: x)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(batch()).sum().backward()
    optimizer.step()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        print(sys.getprofile())
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)
    model(batch()).sum().backward()
    optimizer.step()


def workers():
    data = [torch.ones(8)] * 15
    model = Net(lambda x: x)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        for x in torch.utils.data.DataLoader(data, ROWS, num_workers=2):
            model(x).sum().backward()
            optimizer.step()


def threads():
    def work():
        model = Net(lambda x: x)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(5):
            model(batch()).sum().backward()
            optimizer.step()

    started = [threading.Thread(target=work) for _ in range(3)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join()


def counters():
    import torch._dynamo.utils as utils

    for name in ("frames", "stats", "graph_break", "unimplemented"):
        print(name, dict(utils.counters[name]))


def compiled():
    model = torch.compile(Net(lambda x: x), backend="aot_eager")
    train(model, lambda: model(batch()))
    counters()


def compiled_in_place():
    model = Net(lambda x: x)
    model.compile(backend="aot_eager")
    train(model, lambda: model(batch()))
    counters()


def compiled_part():
    model = Net(lambda x: x)
    model.body = torch.compile(model.body, backend="aot_eager")
    train(model, lambda: model(batch()))
    counters()


def compiled_sizes():
    """A size that is a symbol stays one."""
    model = torch.compile(Net(lambda x: x), backend="aot_eager")
    sizes = itertools.cycle([ROWS - 1, ROWS, 3, 2, 4, 3])
    train(model, lambda: model(batch(next(sizes))))
    counters()


def compiled_function():
    """Not seen: the model is part of the function."""
    model = Net(lambda x: x)
    sizes = itertools.cycle([ROWS, ROWS, 3, 2])

    def whole(x):
        return model(x).sum()

    function = torch.compile(whole, backend="aot_eager")
    train(model, lambda: function(batch(next(sizes))))
    counters()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
