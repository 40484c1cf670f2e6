# Small trainings of every shape; each prints how many steps it made.
# SPDX-License-Identifier: MIT
#
# Usage: hook_cases.py NAME. The last line is "expect N": the count that the
# step hook must report for this process. Works with and without the hook.
import copy
import functools
import os
import pickle
import sys
import threading

import torch


def parameter():
    return torch.nn.Parameter(torch.ones(3))


def loss_of(weight):
    return (weight * weight).sum()


def train(optimizer, weight, steps):
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(weight).backward()
        optimizer.step()


def sgd():
    weight = parameter()
    train(torch.optim.SGD([weight], lr=0.1), weight, 5)
    return 5


def adam():
    weight = parameter()
    train(torch.optim.Adam([weight]), weight, 4)
    return 4


class Superior(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)


def subclass():
    weight = parameter()
    # Both classes have been instantiated, so both steps are wrapped.
    torch.optim.SGD([parameter()], lr=0.1)
    train(Superior([weight], lr=0.1), weight, 6)
    return 6


class Heir(torch.optim.Adam):
    pass


def inherited():
    weight = parameter()
    train(Heir([weight]), weight, 3)
    return 3


def scheduler():
    weight = parameter()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    for _ in range(4):
        train(optimizer, weight, 1)
        schedule.step()
    return 4


def two_optimizers():
    first, second = parameter(), parameter()
    one = torch.optim.Adam([first])
    two = torch.optim.Adam([second])
    for _ in range(5):
        train(one, first, 1)
        train(two, second, 1)
    return 5


def closure():
    weight = parameter()
    optimizer = torch.optim.LBFGS([weight], max_iter=4)

    def evaluate():
        optimizer.zero_grad()
        loss = loss_of(weight)
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(evaluate)
    return 3


def closure_of_three():
    """A loss of three passes, of which the gradients are emptied to zeros."""
    weight = parameter()
    optimizer = torch.optim.LBFGS([weight], lr=0.01, max_iter=4)

    def evaluate():
        optimizer.zero_grad(set_to_none=False)
        losses = [loss_of(weight) for _ in range(3)]
        for loss in losses:
            loss.backward()
        return sum(losses)

    for _ in range(3):
        optimizer.step(evaluate)
    return 3


class Ascending(torch.optim.SGD):
    """As SAM: looks at the loss once more within its step."""

    def step(self, closure=None):
        self.zero_grad()
        with torch.enable_grad():
            closure()
        super().step()


def looked_at_twice():
    weight = parameter()
    optimizer = Ascending([weight], lr=0.1)

    def evaluate():
        for _ in range(2):
            loss_of(weight).backward()

    for _ in range(4):
        evaluate()
        optimizer.step(evaluate)
        optimizer.zero_grad()
    return 4


def failing_step():
    weight = parameter()
    optimizer = Superior([weight], lr=0.1)
    torch.optim.SGD([parameter()], lr=0.1)

    def broken():
        raise ValueError("in the closure")

    for _ in range(3):
        try:
            optimizer.step(broken)
        except ValueError:
            pass
        train(optimizer, weight, 1)
    return 3


def deleted():
    """The next optimizer is likely to get the address of the last."""
    weight = parameter()
    for steps in (5, 3, 2):
        optimizer = torch.optim.SGD([weight], lr=0.1)
        train(optimizer, weight, steps)
        del optimizer
    return 5


class Proxy(torch.optim.Optimizer):
    """As accelerate's: an Optimizer by type that never was initialised."""

    def __init__(self, optimizer):
        self.optimizer = optimizer

    def zero_grad(self, set_to_none=None):
        self.optimizer.zero_grad()

    def step(self, closure=None):
        return self.optimizer.step(closure)


def proxy():
    weight = parameter()
    train(Proxy(torch.optim.SGD([weight], lr=0.1)), weight, 4)
    return 4


class Outer(torch.optim.Optimizer):
    """A real optimizer around a real optimizer."""

    def __init__(self, inner):
        self.inner = inner
        super().__init__(inner.param_groups[0]["params"], {})

    def step(self, closure=None):
        return self.inner.step(closure)


def around():
    weight = parameter()
    train(Outer(torch.optim.SGD([weight], lr=0.1)), weight, 4)
    return 4


def replaced_on_instance():
    weight = parameter()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    original = optimizer.step

    @functools.wraps(original)
    def step(*args, **kwargs):
        return original(*args, **kwargs)

    optimizer.step = step
    train(optimizer, weight, 4)
    return 4


def parts():
    """As ZeRO-3: the optimizer gets its parameters one after the other."""
    weights = [parameter() for _ in range(4)]
    optimizer = torch.optim.SGD([parameter()], lr=0.1)
    for _ in range(3):
        for weight in weights:
            loss_of(weight).backward()
            optimizer.param_groups[0]["params"] = [weight]
            optimizer.step()
            optimizer.param_groups[0]["params"] = []
    return 3


def per_parameter():
    """As an optimizer in the backward pass: one for each parameter."""
    weights = [parameter() for _ in range(50)]
    optimizers = [torch.optim.SGD([weight], lr=0.1) for weight in weights]
    for _ in range(3):
        for optimizer, weight in zip(optimizers, weights):
            train(optimizer, weight, 1)
    return 3


def copied():
    weight = parameter()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    twin = pickle.loads(pickle.dumps(copy.deepcopy(optimizer)))
    train(optimizer, weight, 2)
    train(twin, twin.param_groups[0]["params"][0], 4)
    return 4


class Plain(torch.optim.Optimizer):
    def step(self, closure=None):
        for group in self.param_groups:
            for weight in group["params"]:
                weight.data -= 0.1 * weight.grad


def unpickled_first():
    """No __init__ runs in this process: only __setstate__ does."""
    weight = parameter()
    optimizer = Plain.__new__(Plain)
    groups = [{"params": [weight]}]
    optimizer.__setstate__(
        {"defaults": {}, "state": {}, "param_groups": groups}
    )
    for _ in range(3):
        loss_of(weight).backward()
        optimizer.step()
    return 3


def threads():
    def work():
        weight = parameter()
        train(Superior([weight], lr=0.1), weight, 20)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return 20


def forked():
    weight = parameter()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    with torch.no_grad():
        optimizer.step()
        pid = os.fork()
        if pid == 0:
            for _ in range(7):
                optimizer.step()
            os._exit(0)
        os.waitpid(pid, 0)
        optimizer.step()
    return 2


def workers():
    weight = parameter()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    loader = torch.utils.data.DataLoader(list(range(6)), num_workers=2)
    for _ in loader:
        train(optimizer, weight, 1)
    return 6


def compiled():
    weight = parameter()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    loss_of(weight).backward()
    step = torch.compile(optimizer.step, backend="eager")
    for _ in range(4):
        step()
    return 4


def slope_of(weight):
    loss = (weight ** 3).sum()
    torch.autograd.backward([loss])
    return torch.autograd.grad([(weight ** 3).sum()], [weight])[0]


def by_hand():
    """A program that updates its parameters itself, and fails once."""
    weight = parameter()
    for _ in range(4):
        loss_of(weight).backward()
        with torch.no_grad():
            weight -= 0.1 * weight.grad
    try:
        loss_of(weight).detach().backward()
    except RuntimeError:
        torch.autograd.backward(loss_of(weight))
    return 0


def by_grad():
    """A program that never calls backward(); what it derives again is no pass."""
    weight = parameter()
    for _ in range(4):
        grad, = torch.autograd.grad(loss_of(weight), [weight])
        with torch.no_grad():
            weight -= 0.1 * grad
    slope, = torch.autograd.grad(loss_of(weight), [weight], create_graph=True)
    torch.autograd.grad(slope.sum(), weight, None, None, False)
    torch.autograd.grad(loss_of(weight), weight, None, None, True)
    return 0


def by_grad_and_hand():
    """Those of the inner loop are no passes of the outer one."""
    weight = parameter()
    grad_of = torch.autograd.grad
    for _ in range(3):
        for _ in range(2):
            grad_of(loss_of(weight), [weight])
        loss_of(weight).backward()
    return 0


def scripted():
    """TorchScript still knows the functions that are counted elsewhere."""
    torch.jit.script(slope_of)(parameter())
    return 0


def by_hand_first():
    weight = parameter()
    loss_of(weight).backward()
    train(torch.optim.SGD([weight], lr=0.1), weight, 3)
    return 3


def shards():
    """The optimizer has a part of each weight; two passes reach all of it."""
    weight = parameter()
    shard = torch.nn.Parameter(weight.detach()[:1].clone())
    optimizer = torch.optim.SGD([shard], lr=0.1)
    for _ in range(12):
        for _ in range(2):
            loss_of(weight).backward()
        shard.grad = weight.grad[:1].clone()
        optimizer.step()
        weight.grad = None
    # Whoever replaced it has gone.
    assert torch.autograd.backward.__module__ == "torch.autograd"
    assert not hasattr(torch.autograd.backward, "__wrapped__")
    return 12


def accumulate(batches, accum, epochs, left_out=(), failing=(),
               shuffle=False):
    """Steps after each accum batches of an epoch, and after its last one; some
    are left out, of some the last batch fails before its pass."""
    weight = parameter()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    steps = due = 0
    data = torch.ones(batches, 3)
    loader = torch.utils.data.DataLoader(data, shuffle=shuffle)
    for _ in range(epochs):
        for i, batch in enumerate(loader, 1):
            is_due = i % accum == 0 or i == batches
            due += is_due
            if is_due and due in failing:
                continue
            (loss_of(weight) * batch.sum()).backward()
            if is_due:
                if due not in left_out:
                    optimizer.step()
                    optimizer.zero_grad()
                    steps += 1
    return steps


def few_data():
    return accumulate(7, 4, 6)


def few_steps():
    return accumulate(7, 4, 2)


def scaled():
    """As a gradient scaler leaves steps out."""
    return accumulate(30, 3, 1, left_out=(2, 3))


def caught():
    """As where whatever happens to a batch is caught."""
    return accumulate(12, 3, 1, failing=(3,))


def in_order():
    return accumulate(200, 1, 1)


def shuffled():
    return accumulate(200, 1, 1, shuffle=True)


def no_more():
    """A batch of so many rows as there are."""
    weight = parameter()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    loader = torch.utils.data.DataLoader(torch.ones(5, 3), batch_size=8)
    for _ in range(3):
        for batch in loader:
            (loss_of(weight) * batch.sum()).backward()
            optimizer.step()
    return 3


def validated():
    """A validation's loader stays at work, and has fewer samples."""
    weight = parameter()
    optimizer = torch.optim.SGD([weight], lr=0.1)
    first, last = (
        torch.utils.data.DataLoader(torch.ones(rows, 3), batch_size=2)
        for rows in (4, 6)
    )
    held = [iter(first)]
    next(held[0])
    training = torch.utils.data.DataLoader(torch.ones(20, 3), batch_size=2)
    steps = 0
    for batch in training:
        if not steps:
            held.append(iter(last))
            next(held[1])
        (loss_of(weight) * batch.sum()).backward()
        optimizer.step()
        steps += 1
    return steps


def frozen():
    """As where a backbone is trained later, by the same optimizer."""
    head, backbone = parameter(), torch.nn.Parameter(torch.ones(2, 2), False)
    train(torch.optim.SGD([backbone, head], lr=0.1), head, 3)
    return 3


def idle():
    """Steps of which all backward passes were left out."""
    optimizer = torch.optim.SGD([parameter()], lr=0.1)
    for _ in range(4):
        optimizer.step()
    return 4


def imported_only():
    return 0


def main():
    expected = globals()[sys.argv[1]]()
    print("expect %d" % expected)


if __name__ == "__main__":
    main()
