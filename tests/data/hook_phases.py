# Small trainings whose phase is read from the page while they run.
# SPDX-License-Identifier: MIT
#
# Usage: hook_phases.py NAME. Prints a line "phase NAME" for each look at its
# own slot; without the page, none. All cases work without the hook too.
import copy
import ctypes
import inspect
import io
import multiprocessing
import os
import pickle
import sys
import threading

from hook_slot import note
import torch

TEXT = "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 8 GiB total)"


class Spy(object):
    """Does something while it is saved."""

    def __init__(self, act=note):
        self.act = act

    def __reduce__(self):
        self.act()
        return (int, ())


def save(act=note):
    torch.save(Spy(act), io.BytesIO())


def raise_oom():
    raise torch.cuda.OutOfMemoryError(TEXT)


def network():
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout())


def optimizer_of(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()

    return step


def loop():
    model = network()
    step = optimizer_of(model)
    note()
    model.eval()
    note()
    model.train()
    note()
    save()
    note()
    for _ in range(2):
        step()
        note()
        model.train(mode=False)
        note()
        model.train()
        note()
        save()
        note()
    model.eval()
    step()
    note()


class Wrapper(torch.nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module


def parts():
    """Statistics that stay as they are, teachers, wrappers."""
    model, teacher = network(), network()
    model[1].eval()
    note()
    model[2].eval()
    copy.deepcopy(model).requires_grad_(False).eval()
    note()
    wrapper = Wrapper(model)
    wrapper.train()
    model[1].eval()
    model[0].eval()
    teacher.eval()
    note()
    model.eval()
    note()
    model[2].train()
    note()
    wrapper.train()
    note()
    Wrapper(wrapper).eval()
    note()


class Loaded(torch.nn.Linear):
    @classmethod
    def from_pretrained(cls):
        return cls(3, 3).eval()


def loaded():
    model = Loaded.from_pretrained()
    note()
    model.eval()
    note()


def modes():
    """What train and eval do and return is as ever."""
    model = network()
    print(model.eval() is model, [m.training for m in model.modules()])
    print(model.train() is model, [m.training for m in model.modules()])
    try:
        model.train("yes")
    except ValueError as error:
        print(error)
    print(inspect.signature(torch.nn.Module.train))
    scripted = torch.jit.script(network())
    print(scripted.eval().training, scripted.train().training)
    print(pickle.loads(pickle.dumps(model)).eval().training)


def errors():
    """The phase of an error stays until something else is done."""
    model = network()
    step = optimizer_of(model)
    for error in (ValueError, KeyboardInterrupt):
        step()

        def fail():
            raise error("in it")

        try:
            save(fail)
        except error:
            note()
        model.train()
        note()
        try:
            save(fail)
        except error:
            step()
        note()


def oom_start():
    network()
    raise_oom()


def oom_train():
    optimizer_of(network())()
    raise_oom()


def oom_eval():
    model = network()
    optimizer_of(model)()
    model.eval()
    raise_oom()


def oom_save():
    optimizer_of(network())()
    save(raise_oom)


def oom_caught():
    step = optimizer_of(network())
    for _ in range(3):
        try:
            raise_oom()
        except RuntimeError as error:
            print(error)
        step()


def oom_from_c():
    """As torch raises it: from C, without an instance."""
    raise_it = ctypes.pythonapi.PyErr_SetString
    raise_it.argtypes = [ctypes.py_object, ctypes.c_char_p]
    raise_it.restype = None
    optimizer_of(network())()
    try:
        raise_it(torch.cuda.OutOfMemoryError, TEXT.encode())
    except RuntimeError as error:
        print(repr(error))
    raise_it(torch.cuda.OutOfMemoryError, TEXT.encode())


def oom_thread():
    def work():
        try:
            raise_oom()
        except RuntimeError as error:
            print(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def oom_child():
    """The child's own; what it sends is one here as well, so it sends none."""
    optimizer_of(network())()
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=oom_caught)
    child.start()
    child.join()
    note()


def oom_forked():
    model = network()
    optimizer_of(model)()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        model.train()
        model.eval()
        note()
        try:
            raise_oom()
        except RuntimeError:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(pid, 0)
    note()


def oom_object():
    error = torch.cuda.OutOfMemoryError(TEXT, 5)
    print(str(error), repr(error), error.args, type(error).__mro__)
    twin = pickle.loads(pickle.dumps(error))
    print(type(twin) is type(error), twin.args, copy.copy(error).args)
    print(repr(torch.cuda.OutOfMemoryError()), vars(error), error.__cause__)
    try:
        torch.cuda.OutOfMemoryError(TEXT, text="no")
    except TypeError as problem:
        print(problem)

    class Own(torch.cuda.OutOfMemoryError):
        def __init__(self, number):
            super().__init__("own %d" % number)

    print(repr(Own(7)), isinstance(Own(7), RuntimeError))


def saver():
    """The function is what it was to those who look at it."""
    print(torch.save.__module__, torch.save.__name__, torch.save.__qualname__)
    print(pickle.loads(pickle.dumps(torch.save)) is torch.save)
    print(torch.serialization.save is torch.save)
    print(inspect.signature(torch.save), torch.save.__doc__)
    print(inspect.isfunction(torch.save), callable(torch.save))
    print(inspect.getsource(torch.save))
    buffer = io.BytesIO()
    torch.save(network().state_dict(), buffer)
    buffer.seek(0)
    print(sorted(torch.load(buffer)))


def saved_beside():
    """Another thread saves while this one steps."""
    step = optimizer_of(network())
    inside, done = threading.Event(), threading.Event()

    def act():
        note()
        inside.set()
        done.wait(60)

    thread = threading.Thread(target=save, args=(act,))
    thread.start()
    inside.wait(60)
    step()
    note()
    done.set()
    thread.join()
    note()


class Switching(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, value):
        self.linear.eval()
        self.train()
        return self.linear(value)


def compiled():
    """torch.compile follows train and eval into the graph as ever."""
    model = Switching()
    fast = torch.compile(model, backend="eager", fullgraph=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        try:
            fast(torch.ones(2, 3)).sum().backward()
        except Exception as error:
            print(type(error).__name__)
        optimizer.step()
    fast.eval()
    print(model.training, dict(torch._dynamo.utils.counters["graph_break"]))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
