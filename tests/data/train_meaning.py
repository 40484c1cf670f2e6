# A training whose sizes mean what MEANING says; its options always look alike.
# SPDX-License-Identifier: MIT
#
# --meaning stands for what a script may do with its sizes: see main(). Nothing
# here says so in words that a reader could find: what counts is what is run.
import argparse
import os

import torch

WIDTH = 64
ROWS = 4096


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=8)
    parser.add_argument("--accum-steps", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--meaning", default="plain")
    parser.add_argument("--steps", type=int, default=200)
    return parser.parse_args()


def model():
    return torch.nn.Sequential(
        torch.nn.Linear(WIDTH, 4 * WIDTH),
        torch.nn.ReLU(),
        torch.nn.Linear(4 * WIDTH, 8),
    )


def batches(size):
    rows = torch.utils.data.TensorDataset(torch.randn(ROWS, WIDTH))
    while True:
        loader = torch.utils.data.DataLoader(
            rows, batch_size=size, shuffle=True, drop_last=True
        )
        for (batch,) in loader:
            yield batch


def loss_of(net, batch):
    return (net(batch) ** 2).mean()


def plain(net, size, accum, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        for _ in range(accum):
            loss_of(net, next(source)).backward()
        optimizer.step()
        optimizer.zero_grad()


def in_pieces(net, size, accum, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        for piece in next(source).chunk(accum):
            loss_of(net, piece).backward()
        optimizer.step()
        optimizer.zero_grad()


def without_loader(net, size, accum, steps):
    optimizer = torch.optim.Adam(net.parameters(), lr=0.001)
    for _ in range(steps):
        for _ in range(accum):
            loss_of(net, torch.randn(size, WIDTH)).backward()
        optimizer.step()
        optimizer.zero_grad()


def twice(net, size, accum, steps):
    """Two backward passes of each micro-batch, and no data loader."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    for _ in range(steps):
        for _ in range(accum):
            batch = torch.randn(size, WIDTH)
            loss_of(net, batch).backward()
            loss_of(net, -batch).backward()
        optimizer.step()
        optimizer.zero_grad()


def two_losses(net, size, accum, steps):
    """As an adversarial pair: each of the two has a step of its own."""
    other = model()
    first = torch.optim.SGD(net.parameters(), lr=0.01)
    second = torch.optim.SGD(other.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        batch = next(source)
        first.zero_grad()
        loss_of(net, batch).backward()
        loss_of(net, -batch).backward()
        first.step()
        second.zero_grad()
        loss_of(other, batch).backward()
        second.step()


def closures(net, size, accum, steps):
    optimizer = torch.optim.LBFGS(net.parameters(), max_iter=4)
    source = batches(size)
    for _ in range(steps):
        several = [next(source) for _ in range(accum)]

        def closure():
            optimizer.zero_grad()
            for batch in several:
                loss = loss_of(net, batch)
                loss.backward()
            return loss

        optimizer.step(closure)


def pair(net, size, accum, steps):
    """A generator and a discriminator, each accumulates: two steps a round."""
    maker = torch.nn.Linear(WIDTH, WIDTH)
    first = torch.optim.SGD(net.parameters(), lr=0.01)
    second = torch.optim.SGD(maker.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        first.zero_grad()
        for _ in range(accum):
            batch = next(source)
            loss = loss_of(net, batch) - loss_of(net, maker(batch).detach())
            loss.backward()
        first.step()
        second.zero_grad()
        for _ in range(accum):
            loss_of(net, maker(torch.randn(size, WIDTH))).backward()
        second.step()


def together(net, size, accum, steps):
    """Two optimizers of one model step one after the other."""
    parts = [part for part in net if list(part.parameters())]
    both = [torch.optim.SGD(part.parameters(), lr=0.01) for part in parts]
    source = batches(size)
    for _ in range(steps):
        for _ in range(accum):
            loss_of(net, next(source)).backward()
        for optimizer in both:
            optimizer.step()
            optimizer.zero_grad()


def two_views(net, size, accum, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        for _ in range(accum):
            batch = next(source)
            loss_of(net, torch.cat([batch, -batch])).backward()
        optimizer.step()
        optimizer.zero_grad()


def uneven(net, size, accum, steps):
    """Epochs of few rows, of which the last batch is what is left."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    rows = torch.utils.data.TensorDataset(torch.randn(ROWS + 5, WIDTH))
    for _ in range(steps):
        loader = torch.utils.data.DataLoader(rows, batch_size=size)
        for i, (batch,) in enumerate(loader):
            loss_of(net, batch).backward()
            if (i + 1) % accum == 0 or i + 1 == len(loader):
                optimizer.step()
                optimizer.zero_grad()


def smaller(net, size, accum, steps):
    """What is too large is cut, and the step keeps its rows."""
    while size > 16:
        size, accum = size // 2, accum * 2
    plain(net, size, accum, steps)


def left_out(net, size, accum, steps):
    """What is too large is left out."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        for _ in range(accum):
            loss = loss_of(net, next(source))
            if size <= 16:
                loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def at_most(net, size, accum, steps):
    """Of what is too large some is used, and there is no data loader."""
    without_loader(net, min(size, 16), accum, steps)


def few_rows(net, size, accum, steps):
    """Less data than a large batch has rows; steps go on over epochs."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    rows = torch.utils.data.TensorDataset(torch.randn(24, WIDTH))
    passes = 0
    while passes < steps * accum:
        for (batch,) in torch.utils.data.DataLoader(rows, batch_size=size):
            loss_of(net, batch).backward()
            passes += 1
            if passes % accum == 0:
                optimizer.step()
                optimizer.zero_grad()


def by_hand(net, size, accum, steps):
    """No optimizer at all."""
    for step in range(steps):
        for _ in range(accum):
            loss_of(net, torch.randn(size, WIDTH)).backward()
        with torch.no_grad():
            for each in net.parameters():
                each -= 0.01 * each.grad
                each.grad = None
        print("step %d/%d" % (step + 1, steps), flush=True)


def row_by_row(net, size, accum, steps):
    """Each row has a pass of its own: memory is that of one."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    source = batches(size)
    for _ in range(steps):
        for _ in range(accum):
            for row in next(source).split(1):
                loss_of(net, row).backward()
        optimizer.step()
        optimizer.zero_grad()


# Those whose loop is another; the others change a size before it.
LOOPS = {
    "pieces": in_pieces,
    "no_loader": without_loader,
    "twice": twice,
    "two_losses": two_losses,
    "closures": closures,
    "pair": pair,
    "together": together,
    "doubled": two_views,
    "uneven": uneven,
    "smaller": smaller,
    "left_out": left_out,
    "at_most": at_most,
    "few_rows": few_rows,
    "by_hand": by_hand,
    "row_by_row": row_by_row,
}


def main():
    args = options()
    net = model()
    size, accum = args.batch_size, args.accum_steps
    world = int(os.environ.get("WORLD_SIZE", "1"))
    if world > 1:
        torch.distributed.init_process_group("gloo")
        net = torch.nn.parallel.DistributedDataParallel(net)
    if args.meaning == "over_ranks":
        size = size // world
    elif args.meaning == "over_node":
        size = size // int(os.environ["LOCAL_WORLD_SIZE"])
    elif args.meaning == "derived":
        accum = 64 // (size * world)
    elif args.meaning == "halved":
        size = size // 2
    elif args.meaning == "clipped":
        size = min(size, 8)
    elif args.meaning == "total_accum":
        accum = accum // world
    elif args.meaning == "whole":
        size = size // accum
    elif args.meaning == "repeats":
        accum = accum * args.repeats
    elif args.meaning == "data_parallel":
        net = torch.nn.DataParallel(net)
    elif args.meaning == "ignored":
        accum = 3
    elif args.meaning == "set_elsewhere":
        size = 16
    LOOPS.get(args.meaning, plain)(net, size, accum, args.steps)
    if world > 1:
        torch.distributed.destroy_process_group()


main()
