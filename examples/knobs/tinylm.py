# A tiny language model and the loop that trains it, shared by the examples.
# SPDX-License-Identifier: MIT
"""Each program of this folder takes its sizes in one way, then calls train().

The model guesses the next word from this one and its place. It has few
parameters and many words to choose from: as in a large model, memory goes to
the scores of all words at all places, some 16 MiB per sample.
"""
import torch
from torch import distributed, nn
from torch.nn import functional

WORDS = 8192
WIDTH = 8
CONTEXT = 128


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.word = nn.Embedding(WORDS, WIDTH)
        self.place = nn.Embedding(CONTEXT, WIDTH)
        self.score = nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        return self.score(self.word(words) + self.place.weight)


def take_batch(size, generator):
    """Rows of words in which each is the double of the one before it."""
    first = torch.randint(WORDS, (size, 1), generator=generator)
    rows = first * 2 ** torch.arange(CONTEXT + 1).clamp(max=13) % WORDS
    return rows[:, :-1], rows[:, 1:]


def over_ranks(number):
    """The sum of a number over all ranks."""
    if not distributed.is_initialized():
        return number
    total = torch.tensor(number)
    distributed.all_reduce(total)
    return int(total)


def train(micro, accum, steps, lr=0.1):
    """Train for some optimizer steps; returns the model.

    At the end it says what every step has really seen, counted as it ran:
    "effective batch 8 = 2 x 4 x 1" is samples per pass, passes, ranks.
    """
    world = over_ranks(1)
    rank = distributed.get_rank() if distributed.is_initialized() else 0
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(rank)
    model = Model()
    net = nn.parallel.DistributedDataParallel(model) if world > 1 else model
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    seen = set()
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        sizes = []
        for _ in range(accum):
            words, following = take_batch(micro, generator)
            scores = net(words)
            loss = functional.cross_entropy(
                scores.flatten(0, 1), following.flatten()
            )
            (loss / accum).backward()
            sizes.append(len(words))
        optimizer.step()
        seen.add((over_ranks(sum(sizes)), max(sizes), len(sizes), world))
        if rank == 0:
            print("step %d/%d loss %.4f" % (step, steps, loss), flush=True)
    for sizes in sorted(seen) if rank == 0 else ():
        print("effective batch %d = %d x %d x %d" % sizes, flush=True)
    return model
