# What a program does with the values of a phantom card, which are zeros there.
# SPDX-License-Identifier: MIT
#
# Python runs this at start: autofit puts it as sitecustomize.py into a folder
# of its own, first in PYTHONPATH of a command on a phantom card. Nothing is
# changed before PyTorch begins to use the card. Then:
#
# - Values that came from the host are known: a tensor that was copied to the
#   card keeps its values here, and so does what small operations make of it.
#   A question about them (has a mask zeros, how long is the longest row) gets
#   the answer that a real card would give, and so does an operation whose
#   result is as large as they say (rows that a mask chooses).
# - Numbers of a healthy training are finite: isnan() and its like are known.
# - What else decides what the program does next is told to autofit, with its
#   line: a question (`if error < limit`), a whole number (it may be a size), a
#   number that is compared after item(). A number that is only printed or
#   added up is none of that.
# - A loop that waits for a value would never end: the process does.
#
# It never prints, and leaves results as they are; an error in here leaves the
# program to itself, and its reads count as unseen (docs/phantom.md).
import os
import sys

# Of so many elements at most the values are kept.
KNOWN_MAX = 1 << 20
# So many equal questions in a row, without a backward pass between them: the
# program waits for another answer.
WAITS_MAX = 1000
TEXT_MAX = 100
# enum sim_kept.
COPY, ANSWER = 1, 2
# How functions of torch.distributed begin that hand small things on to other
# ranks: releases have more and more of them.
COLLECTIVES = ("all_gather", "broadcast")

# Known values are followed through these methods of a tensor, ...
METHODS = (
    "__getitem__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ "
    "__truediv__ __rtruediv__ __floordiv__ __mod__ __eq__ __ne__ __lt__ "
    "__le__ __gt__ __ge__ __and__ __or__ __xor__ __invert__ __neg__ "
    "int long bool float double half bfloat16 type"
).split()
# ... through all of the operators that give the same for the same values, but
# for these, which are about its memory, ...
OF_MEMORY = ("as_strided", "backward", "empty", "new_", "resize", "to_")
# ... through functions of torch, ...
FUNCTIONS = (
    "diff any all sum max min eq ne lt le gt ge logical_and logical_or "
    "logical_not cumsum tril triu cat stack where masked_fill clamp gather"
).split()
# ... and those that make a tensor of nothing but their arguments; not zeros():
# kernels write into what it makes, and tell nobody.
FACTORIES = (
    "arange eye ones ones_like tensor tril_indices triu_indices"
).split()
# What takes no more than the shape of its last argument from it.
SHAPED = ("expand_as", "reshape_as", "view_as", "ones_like")
# What makes a tensor of as many elements as it is told.
SIZED = "arange empty full linspace ones rand randint randn zeros".split()
# Operations whose result is as large as the values of their arguments say.
CHOOSING = (
    "nonzero argwhere where unique unique_consecutive bincount "
    "repeat_interleave"
).split()
# Files of libraries that only ask whether a step is made (as it is with finite
# numbers), a training saved or ended, a first weight drawn again, or a number
# one that a distribution may have.
HARMLESS = (
    "/grad_scaler.py",
    "/model_checkpoint.py",
    "/early_stopping.py",
    "/nn/init.py",
    "/distributions/distribution.py",
)
# What changes a tensor, beside the methods that end in an underscore.
IN_PLACE = (
    "__setitem__ __iadd__ __isub__ __imul__ __itruediv__ __ifloordiv__ "
    "__imod__ __iand__ __ior__ __ixor__"
).split()
# Yes or no, by the values.
QUESTIONS = ["allclose", "equal", "is_nonzero"]
# The answer that finite numbers give.
HEALTH = {"isnan": False, "isinf": False, "isfinite": True}


class Unknown(Exception):
    """A value of the card that did not come from the host."""


class Runtime(object):
    """What the CUDA runtime of the phantom card offers."""

    def __init__(self, torch):
        import ctypes

        # There may be one for each version of CUDA: PyTorch uses its own.
        major = torch.version.cuda.partition(".")[0]
        library = ctypes.PyDLL("libcudart.so." + major)
        # Reads of this thread, and kernels, mean nothing while it is above 0.
        self.handle = library.autofit_phantom_handle
        self.tell = library.autofit_phantom_value
        self.end = library.autofit_phantom_end
        # What ranks say to each other (probes/phantom/device/sim_kept.h).
        driver = ctypes.PyDLL("libcuda.so.1")
        address, size = ctypes.c_uint64, ctypes.c_size_t
        self.keep = driver.autofit_phantom_keep
        self.keep.argtypes = [address, ctypes.c_void_p, size, ctypes.c_int]
        self.kept = driver.autofit_phantom_kept
        self.kept.argtypes = [address, ctypes.c_void_p, size]


class Asked(object):
    """Tells what depends on a value, and ends a program that waits for one."""

    def __init__(self, runtime, torch):
        self.runtime = runtime
        self.inside = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
        self.place = None
        self.times = 0
        self.checks = {}
        from opcode import opmap

        # While a function written in C compares two numbers.
        self.calls = frozenset(opmap[name] for name in opmap if "CALL" in name)

    def note(self, what, answer=None):
        place = self.find(answer)
        if place is None:
            return
        self.times = self.times + 1 if place == self.place else 1
        self.place = place
        text = "%s:%d %s" % (os.path.basename(place[0])[-48:], place[1], what)
        text = text.encode("utf-8", "replace")[:TEXT_MAX]
        if self.times > WAITS_MAX:
            self.runtime.end(text)
        self.runtime.tell(text)

    def passes(self):
        """A backward pass: the program gets on."""
        self.times = 0

    def find(self, answer):
        """
        The line that asks: the user's own, else the nearest not torch's. None:
        a library that takes no more memory, whatever the answer is, or a
        check that holds, without which there would be an error.
        """
        found = None
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename == __file__:
            frame = frame.f_back
        if None not in (frame, answer) and self.is_check(frame, answer):
            return None
        while frame is not None:
            name = frame.f_code.co_filename
            is_inside = name == __file__ or name.startswith(self.inside)
            if not is_inside and not is_installed(name):
                return name, frame.f_lineno
            if name.endswith(HARMLESS):
                return None
            if not is_inside:
                found = found or (name, frame.f_lineno)
            frame = frame.f_back
        return found or ("a library", 0)

    def is_check(self, frame, answer):
        """With the other answer the program would go straight to an error."""
        key = frame.f_code, frame.f_lasti, bool(answer)
        if key not in self.checks:
            try:
                self.checks[key] = raises_else(*key)
            except Exception:
                self.checks[key] = False
        return self.checks[key]


def raises_else(code, at, answer):
    """
    The branch that is not taken behind this place fails an assertion; or, in a
    library, raises an error: a program may go on from its own.
    """
    import dis

    steps = list(dis.get_instructions(code))
    between = ("CACHE", "EXTENDED_ARG", "TO_BOOL", "COMPARE_OP")
    behind = (
        each
        for each in steps
        if each.offset >= at and each.opname not in between
    )
    jump = next(behind)
    if "JUMP" not in jump.opname or not (
        "IF_TRUE" in jump.opname or "IF_FALSE" in jump.opname
    ):
        return False
    if answer != ("IF_TRUE" in jump.opname):
        behind = (each for each in steps if each.offset >= jump.argval)
    is_fatal = is_installed(code.co_filename)
    for each in behind:
        if "ASSERTION" in each.opname or each.argrepr == "AssertionError":
            is_fatal = True
        if each.opname == "RAISE_VARARGS":
            return is_fatal
        if "JUMP" in each.opname or "RETURN" in each.opname:
            break
    return False


def is_installed(name):
    return (
        "/site-packages/" in name
        or "/dist-packages/" in name
        or "/lib/python" in name
        or name.startswith("<")
    )


def number_class(asked):
    """A number read from the card: the same, and comparing it is told."""

    class Number(float):
        __slots__ = ()

        def __reduce_ex__(self, protocol):
            return float, (float.__add__(self, 0.0),)

        def __hash__(self):
            return float.__hash__(self)

    def computes(plain):
        def method(self, *others):
            result = plain(self, *others)
            return Number(result) if type(result) is float else result

        return method

    def decides(plain, what):
        def method(self, *others):
            answer = plain(self, *others)
            # What is not itself is not a number: a check of health.
            if not others or others[0] is not self:
                asked.note(what, answer)
            return answer

        return method

    def orders(plain, what):
        noted = decides(plain, what)

        def method(self, other):
            # max() and sorted() give numbers back, which are watched as well.
            frame = sys._getframe().f_back
            if frame and frame.f_code.co_code[frame.f_lasti] in asked.calls:
                return plain(self, other)
            return noted(self, other)

        return method

    for name in (
        "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod "
        "rmod pow rpow neg pos abs round"
    ).split():
        name = "__%s__" % name
        setattr(Number, name, computes(getattr(float, name)))
    for name in "lt gt le ge eq ne bool".split():
        watch = orders if name in ("lt", "gt") else decides
        name = "__%s__" % name
        method = watch(getattr(float, name), "compares a number of the card")
        setattr(Number, name, method)
    for name in "int trunc floor ceil".split():
        name = "__%s__" % name
        if hasattr(float, name):
            method = decides(getattr(float, name), "makes it a whole number")
            setattr(Number, name, method)
    return Number


def numbers_in(value, number):
    """Of tolist(): lists of lists of numbers."""
    if type(value) is list:
        return [numbers_in(each, number) for each in value]
    return number(value) if type(value) is float else value


class Values(object):
    """The values that are known, and the wrappers around those that ask."""

    def __init__(self, torch, runtime):
        self.torch = torch
        self.tensor = torch.Tensor
        self.kinds = (torch.Tensor, torch.nn.Parameter)
        self.runtime = runtime
        self.asked = Asked(runtime, torch)
        self.number = number_class(self.asked)
        self.taken = taken_class(torch)
        self.has_memory = {self.taken: False}
        self.folder = None

    def bind(self):
        from torch.utils import _device

        # It keeps a list of the functions that make tensors, as they are now.
        _device._device_constructors()
        torch, tensor = self.torch, self.tensor
        methods = dir(tensor)
        # What comes later sees what a program does first.
        for holder, names, wrap in (
            (tensor, METHODS, self.follow),
            (torch, FUNCTIONS, self.follow),
            (torch._C._nn, ["pad"], self.follow),
            (torch, SIZED, self.size),
            (torch, ["as_tensor", "tensor"], self.enlist),
            (torch, FACTORIES, self.make),
            (tensor, CHOOSING, self.choose),
            (torch, CHOOSING, self.choose),
            (tensor, ["masked_select"], self.select),
            (torch, ["masked_select"], self.select),
            (tensor, ["repeat_interleave"], self.repeat),
            (torch, ["repeat_interleave"], self.repeat),
            (tensor, ["histc"], self.quiet),
            (torch, ["histc"], self.quiet),
            (torch.nn.functional, ["one_hot"], self.choose),
            (tensor, ["__getitem__", "__setitem__"], self.point),
            (tensor, ["masked_scatter"], self.scatter),
            (torch, ["masked_scatter"], self.scatter),
            (torch, ["ctc_loss"], self.tell_lengths),
            (tensor, HEALTH, self.health),
            (torch, HEALTH, self.health),
            (tensor, ["to", "cuda", "cpu"], self.move),
            (tensor, ["__bool__"] + QUESTIONS, self.question),
            (torch, QUESTIONS, self.question),
            (tensor, ["item", "tolist"], self.read),
            (tensor, ["__int__", "__index__", "__float__"], self.leave),
            (tensor, ["copy_"], self.copy),
            (tensor, ["__repr__"], self.quiet),
            (torch, ["save"], self.quiet),
            (torch.autograd, ["backward"], self.passes),
            (tensor, filter(self.is_pure, methods), self.follow),
            (tensor, filter(self.takes_sizes, methods), self.size),
            (tensor, filter(self.changes_it, methods), self.forget),
            (tensor, IN_PLACE, self.forget),
        ):
            for name in names:
                self.replace(holder, name, wrap)
        self.bind_ranks()
        self.bind_late()

    def forms(self, name):
        """Of an operator that is a method as well."""
        if name.endswith("_") or not callable(getattr(self.tensor, name)):
            return []
        packet = getattr(self.torch.ops.aten, name, None)
        if packet is None:
            return []
        return [getattr(packet, each) for each in packet.overloads()]

    def is_pure(self, name):
        if name.startswith(OF_MEMORY):
            return False
        if hasattr(getattr(self.tensor, name), "__wrapped__"):
            return False
        forms = self.forms(name)
        seeded = self.torch.Tag.nondeterministic_seeded
        return any(not each._schema.is_mutable for each in forms) and not any(
            seeded in each.tags for each in forms
        )

    def takes_sizes(self, name):
        return any("SymInt" in str(each._schema) for each in self.forms(name))

    def changes_it(self, name):
        is_operator = hasattr(self.torch.ops.aten, name)
        return name.endswith("_") and name[:2] != "__" and is_operator

    def bind_late(self):
        """What may be imported once the card is in use."""
        self.bind_folding()
        # What a card computes is zeros here, and no real run may find it.
        datasets = sys.modules.get("datasets")
        forget = getattr(datasets, "disable_caching", None)
        if forget is not None:
            forget()

    def bind_folding(self):
        """Inductor computes constants on the card, and writes them into code."""
        place = sys.modules.get("torch._inductor.fx_passes.joint_graph")
        folder = getattr(place, "UniformValueConstantFolder", None)
        if folder is not None and folder is not self.folder:
            self.folder = folder
            self.replace(folder, "_deduce_value", self.fold)

    def bind_ranks(self):
        place = sys.modules.get("torch.distributed.distributed_c10d")
        if place is None:
            return
        self.replace(self.tensor, "resize_", self.resize)
        for name, function in list(vars(place).items()):
            if name.startswith(COLLECTIVES) and callable(function):
                self.replace(place, name, self.spread)
                setattr(self.torch.distributed, name, getattr(place, name))

    def replace(self, holder, name, wrap):
        function = getattr(holder, name, None)
        if function is None:
            return
        call = wrap(function, name)
        for attribute in ("__name__", "__qualname__", "__doc__", "__module__"):
            try:
                setattr(call, attribute, getattr(function, attribute))
            except (AttributeError, TypeError):
                pass
        call.__wrapped__ = function
        setattr(holder, name, call)
        if holder is not self.tensor:
            self.register(function, call)

    def register(self, function, call):
        """TorchScript and Dynamo know operators by the functions themselves."""
        builtins = self.torch.jit._builtins
        operator = builtins._find_builtin(function)
        if operator:
            builtins._register_builtin(call, operator)
        rules = sys.modules.get("torch._dynamo.trace_rules")
        if rules is not None:
            known = rules.get_torch_obj_rule_map()
            if function in known:
                known[call] = known[function]

    def is_card(self, value):
        """A tensor of the card itself, or of values that were taken there."""
        kind = type(value)
        if self.is_whole(kind):
            return value.is_cuda and not self.is_traced()
        return kind is self.taken

    def is_whole(self, kind):
        """Tensors of this class have memory, and stand for no others."""
        found = self.has_memory.get(kind)
        if found is None:
            found = self.has_memory[kind] = (
                issubclass(kind, self.tensor)
                and kind.__torch_dispatch__ is self.tensor.__torch_dispatch__
            )
        return found

    def is_traced(self):
        """Somebody else looks at each operation: nothing is added to them."""
        return bool(self.torch._C._len_torch_dispatch_stack())

    def known(self, value):
        # Other classes hand what stands in their objects on to results.
        if type(value) not in self.kinds:
            return None
        entry = value.__dict__.get("_autofit_known")
        if entry is None or entry[1] != version_of(value):
            return None
        return entry[0] if entry[0].shape == value.shape else None

    def remember(self, value, host):
        if host.numel() <= KNOWN_MAX and host.shape == value.shape:
            value._autofit_known = (host, version_of(value))

    def in_shape(self, value):
        """In place of a tensor of which only shape and type matter."""
        one = self.torch.empty(1, dtype=value.dtype, device="cpu")
        return one.expand(value.shape)

    def on_host(self, value):
        """An argument with known values in place of those of the card."""
        if isinstance(value, self.tensor):
            is_plain = type(value) in self.kinds
            if is_plain and not value.is_cuda:
                return value
            host = self.known(value) if is_plain else None
            if host is None:
                raise Unknown
            return host
        if isinstance(value, (tuple, list)):
            return type(value)([self.on_host(each) for each in value])
        return value

    def compute(self, function, args, kwargs):
        if getattr(function, "__name__", "").endswith(SHAPED):
            args = args[:-1] + (self.in_shape(args[-1]),)
        args = [self.on_host(each) for each in args]
        kwargs = {key: self.on_host(kwargs[key]) for key in kwargs}
        with self.torch.no_grad():
            return function(*args, **kwargs)

    def follow(self, function, name):
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            try:
                parts = result if type(result) is tuple else (result,)
                if args and self.is_small(parts) and self.starts(args[0]):
                    host = self.compute(function, args, kwargs)
                    hosts = host if type(host) is tuple else (host,)
                    for part, each in zip(parts, hosts):
                        self.remember(part, each)
            except Exception:
                pass
            return result

        return call

    def is_small(self, parts):
        return self.is_card(parts[0]) and parts[0].numel() <= KNOWN_MAX

    def starts(self, value):
        """Cheap: most of what a program computes is not known."""
        if type(value) in self.kinds:
            return not value.is_cuda or self.known(value) is not None
        return True

    def size(self, function, name):
        """A size that is told by a tensor of the card, which is known."""

        kept = int(name not in SIZED)  # the tensor whose method it is

        def call(*args, **kwargs):
            sizes = map(self.told, args[kept:])
            return function(*args[:kept], *sizes, **kwargs)

        return call

    def enlist(self, function, name):
        """
        A list of scalars. With a __getitem__ of Python's own, as it is here, a
        tensor is a sequence to C, also one that has no elements to be had.
        """

        def call(data, *args, **kwargs):
            first = data
            while isinstance(first, (list, tuple)) and first:
                first = first[0]
            is_scalar = isinstance(first, self.tensor) and not first.dim()
            if first is data or not is_scalar:
                return function(data, *args, **kwargs)
            if not args:
                kwargs.setdefault("dtype", first.dtype)
            unknown = []
            self.runtime.handle(1)
            try:
                data = self.scalars(data, unknown)
            finally:
                self.runtime.handle(-1)
            result = function(data, *args, **kwargs)
            if unknown and not result.is_cuda:
                self.asked.note("takes numbers from the card")
            return result

        return call

    def scalars(self, data, unknown):
        if isinstance(data, (list, tuple)):
            return [self.scalars(each, unknown) for each in data]
        if not isinstance(data, self.tensor):
            return data
        host = self.known(data) if self.is_card(data) else data
        if host is None:
            unknown.append(data)
            host = data
        return self.tensor.item.__wrapped__(host)

    def told(self, value):
        if type(value) in (tuple, list):
            return type(value)([self.told(each) for each in value])
        host = self.known(value)
        is_size = host is not None and host.dim() == 0 and value.is_cuda
        if not is_size or host.dtype is self.torch.bool:
            return value
        return value if host.dtype.is_floating_point else int(host)

    def make(self, function, name):
        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            try:
                if self.is_card(result) and result.numel() <= KNOWN_MAX:
                    kwargs = dict(kwargs, device="cpu", requires_grad=False)
                    self.remember(result, self.compute(function, args, kwargs))
            except Exception:
                pass
            return result

        return call

    def fold(self, function, name):
        def call(folder, node):
            result = function(folder, node)
            try:
                if self.is_card(result) and self.known(result) is None:
                    args, kwargs = folder.fetch_args_kwargs_from_env(node)
                    if node.target is self.torch.ops.aten.full.default:
                        # One element stands for all of them.
                        args = (result.shape, args[1])
                    if "device" in kwargs:
                        kwargs = dict(kwargs, device="cpu")
                    host = self.compute(node.target, args, kwargs)
                    self.remember(result, host)
            except Exception:
                pass
            return result

        return call

    def choose(self, function, name):
        """By the values that are known, with no question to the card."""

        def call(*args, **kwargs):
            # where() with more takes values of two tensors, and is as large.
            if not (name == "where" and len(args) > 1):
                try:
                    if args and self.is_card(args[0]):
                        host = self.compute(function, args, kwargs)
                        return self.on_card(host, args[0].device)
                except Exception:
                    pass
            return function(*args, **kwargs)

        return call

    def on_card(self, host, device):
        if isinstance(host, tuple):
            return type(host)([each.to(device) for each in host])
        return host.to(device)

    def select(self, function, name):
        """An index by the mask, in the shape that both make."""

        def call(*args, **kwargs):
            host = None
            if len(args) == 2 and not kwargs and self.is_card(args[0]):
                host = self.known(args[1])
            if host is None:
                return function(*args, **kwargs)
            value = args[0]
            shape = self.torch.broadcast_shapes(value.shape, host.shape)
            return value.expand(shape)[self.places(host.expand(shape), value)]

        return call

    def repeat(self, function, name):
        """It is told how large the result is, and asks nobody."""
        quiet = self.quiet(function, name)

        def call(*args, **kwargs):
            host = self.known(args[1]) if len(args) > 1 else None
            if host is None or host.numel() < 2 or not args[1].is_cuda:
                return function(*args, **kwargs)
            return quiet(*args, **dict(kwargs, output_size=int(host.sum())))

        return call

    def point(self, function, name):
        """Indices in place of a mask whose values are known."""

        def call(value, index, *rest):
            try:
                if self.is_card(value):
                    index = self.pointed(index)
            except Exception:
                pass
            return function(value, index, *rest)

        return call

    def pointed(self, index):
        found = []
        for each in index if isinstance(index, tuple) else (index,):
            host = self.known(each)
            is_known = host is not None and host.dim() > 0
            if is_known and host.dtype is self.torch.bool:
                found += self.places(host, each)
            else:
                found.append(each)
        return tuple(found) if len(found) > 1 else found[0]

    def places(self, mask, value):
        """Of what it chooses: an index of each of its dimensions."""
        return mask.nonzero().to(value.device).unbind(1)

    def tell_lengths(self, function, name):
        """It takes lengths of the host as well, and reads them there."""

        def call(logits, targets, *lengths, **kwargs):
            known = [self.known(each) for each in lengths[:2]]
            told = [each if host is None else host
                    for each, host in zip(lengths, known)]
            return function(logits, targets, *told, *lengths[2:], **kwargs)

        return call

    def forget(self, function, name):
        """A tensor of inference keeps no version that would tell the change."""

        def call(value, *args, **kwargs):
            if version_of(value) is None:
                value.__dict__.pop("_autofit_known", None)
            return function(value, *args, **kwargs)

        return call

    def scatter(self, function, name):
        """Its gradient is chosen by the mask, and as large as the source."""
        scattering = scatter_class(self.torch, function)

        def call(*args, **kwargs):
            if len(args) == 3 and not kwargs and self.is_card(args[0]):
                return scattering.apply(*args)
            return function(*args, **kwargs)

        return call

    def health(self, function, name):
        answer = HEALTH[name]

        def call(*args, **kwargs):
            result = function(*args, **kwargs)
            try:
                if self.is_card(result):
                    host = self.torch.tensor(answer).expand(result.shape)
                    result._autofit_known = (host, version_of(result))
            except Exception:
                pass
            return result

        return call

    def move(self, function, name):
        def call(*args, **kwargs):
            source = args[0]
            if self.is_card(source):
                return self.move_from(function, source, args, kwargs)
            result = function(*args, **kwargs)
            try:
                if self.is_card(result) and source.numel() <= KNOWN_MAX:
                    host = source.detach().clone().to(result.dtype)
                    self.remember(result, host)
            except Exception:
                pass
            return result

        return call

    def move_from(self, function, source, args, kwargs):
        self.runtime.handle(1)
        try:
            result = function(*args, **kwargs)
        finally:
            self.runtime.handle(-1)
        host = self.known(source)
        if result is source or type(result) is not self.tensor:
            return result
        if host is not None:
            host = host.to(result.dtype)
            if result.is_cuda:
                self.remember(result, host)
            elif result.shape == host.shape:
                with self.torch.no_grad():
                    result.copy_(host)
        elif not result.is_cuda and not self.is_big(result):
            if not result.dtype.is_floating_point:
                self.asked.note("takes whole numbers from the card")
            elif not result.requires_grad:
                return result.as_subclass(self.taken)
        return result

    def is_big(self, value):
        """Weights and activations that are put aside are no questions."""
        return value.dtype.is_floating_point and value.numel() > 1024

    def copy(self, function, name):
        def call(target, source, *args, **kwargs):
            known = None
            if self.is_card(source) and not target.is_cuda:
                known = self.known(source)
                if known is None and not source.dtype.is_floating_point:
                    self.asked.note("takes whole numbers from the card")
                self.runtime.handle(1)
                try:
                    function(target, source, *args, **kwargs)
                finally:
                    self.runtime.handle(-1)
                return target if known is None else function(target, known)
            return function(target, source, *args, **kwargs)

        return call

    def question(self, function, name):
        def call(value, *args, **kwargs):
            if not self.is_card(value):
                return function(value, *args, **kwargs)
            try:
                host = self.compute(function, (value,) + args, kwargs)
            except Unknown:
                pass
            else:
                return host
            self.runtime.handle(1)
            try:
                answer = function(value, *args, **kwargs)
            finally:
                self.runtime.handle(-1)
            self.asked.note("asks the card a question", answer)
            return answer

        return call

    def read(self, function, name):
        def call(value, *args, **kwargs):
            if not self.is_card(value):
                return function(value, *args, **kwargs)
            host = self.known(value)
            if host is not None:
                return function(host, *args, **kwargs)
            if not value.dtype.is_floating_point:
                self.asked.note("reads a whole number from the card")
            self.runtime.handle(1)
            try:
                result = function(value, *args, **kwargs)
            finally:
                self.runtime.handle(-1)
            return numbers_in(result, self.number)

        return call

    def leave(self, function, name):
        def call(value):
            if not self.is_card(value):
                return function(value)
            host = self.known(value)
            if host is not None:
                return function(host)
            self.asked.note("takes a number from the card")
            self.runtime.handle(1)
            try:
                return function(value)
            finally:
                self.runtime.handle(-1)

        return call

    def resize(self, function, name):
        """Of bytes that other ranks are to have, which say more than these."""

        def call(value, *args, **kwargs):
            host = self.known(value) if self.is_card(value) else None
            result = function(value, *args, **kwargs)
            if host is not None and value.numel() <= KNOWN_MAX:
                longer = self.torch.zeros(value.numel(), dtype=value.dtype)
                both = min(longer.numel(), host.numel())
                longer[:both] = host.reshape(-1)[:both]
                self.remember(value, longer.view(value.shape))
            return result

        return call

    def spread(self, function, name):
        def call(*args, **kwargs):
            tensors = self.tensors_in((args, tuple(kwargs.values())))
            for value in tensors:
                self.offer(value)
            result = function(*args, **kwargs)
            for value in tensors:
                self.learn(value)
            return result

        return call

    def tensors_in(self, value):
        if isinstance(value, (tuple, list)):
            return [each for one in value for each in self.tensors_in(one)]
        is_whole = self.is_card(value) and value.is_cuda
        return [value] if is_whole and value.is_contiguous() else []

    def offer(self, value):
        """The card knows it, and so does the collective that comes now."""
        host = self.known(value)
        if host is not None and host.numel():
            host = host.contiguous()
            size = host.numel() * host.element_size()
            self.runtime.keep(value.data_ptr(), host.data_ptr(), size, COPY)

    def learn(self, value):
        """What another rank has said is known from now on."""
        size = value.numel() * value.element_size()
        host = self.torch.empty(value.shape, dtype=value.dtype, device="cpu")
        if size and self.runtime.kept(
                value.data_ptr(), host.data_ptr(), size) == ANSWER:
            self.remember(value, host)

    def quiet(self, function, name):
        """
        What is printed or saved decides nothing, nor does what an operation
        reads whose result is as large with any values.
        """

        def call(*args, **kwargs):
            self.runtime.handle(1)
            try:
                return function(*args, **kwargs)
            finally:
                self.runtime.handle(-1)

        return call

    def passes(self, function, name):
        def call(*args, **kwargs):
            self.asked.passes()
            return function(*args, **kwargs)

        return call


def scatter_class(torch, function):
    class Scatter(torch.autograd.Function):
        @staticmethod
        def forward(context, target, mask, source):
            context.save_for_backward(mask)
            context.shape = source.shape
            return function(target, mask, source)

        @staticmethod
        def backward(context, gradient):
            (mask,) = context.saved_tensors
            target, _, source = context.needs_input_grad
            return (
                gradient.masked_fill(mask, 0) if target else None,
                None,
                gradient.new_zeros(context.shape) if source else None,
            )

    return Scatter


def taken_class(torch):
    """A tensor of the host whose values came from the card."""

    class Taken(torch.Tensor):
        def __reduce_ex__(self, protocol):
            return self.as_subclass(torch.Tensor).__reduce_ex__(protocol)

    return Taken


def version_of(value):
    try:
        return value._version
    except RuntimeError:
        return None  # of inference: it keeps none


class Finder(object):
    """
    Finds nothing; sees each import go by. torch.cuda starts the card with a
    function of its own, from which on all of torch is there.
    """

    def __init__(self):
        self.is_bound = False
        self.values = None

    def find_spec(self, fullname, path=None, target=None):
        try:
            if not self.is_bound and "torch.optim.optimizer" in sys.modules:
                self.is_bound = True
                self.bind(sys.modules["torch.cuda"])
            if self.values is not None:
                self.values.bind_late()
        except Exception:
            pass
        return None

    def bind(self, cuda):
        start = cuda._lazy_init
        begun = []

        def lazy_init():
            if not begun:
                begun.append(None)
                try:
                    torch = sys.modules["torch"]
                    self.values = Values(torch, Runtime(torch))
                    self.values.bind()
                except Exception:
                    pass
            return start()

        cuda._lazy_init = lazy_init


def step_aside():
    """As the hook of probes does (sitecustomize.py): the user's own is next."""
    folder = os.path.dirname(os.path.abspath(__file__))
    others = [entry for entry in sys.path if os.path.abspath(entry) != folder]
    if len(others) == len(sys.path):
        return None
    sys.path[:] = others
    return sys.modules.pop("sitecustomize", None)


try:
    if sys.version_info >= (3, 8) and os.environ.get("AUTOFIT_SIM_STATE"):
        seen = Finder()
        sys.meta_path.insert(0, seen)
        seen.find_spec("")
except Exception:
    pass

this_module = step_aside()
if this_module is not None:
    import sitecustomize  # noqa: F401
