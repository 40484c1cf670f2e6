# Whether this process starts, trains, evaluates or saves.
# SPDX-License-Identifier: MIT
import sys

from autofit_hook.channel import EVAL, PHASE32, SAVE, START, TRAIN
from autofit_hook.ooms import is_oom
from autofit_hook.rows import is_trained
from autofit_hook.wrapping import is_loading, never, wraps

HF_MODELS = "transformers.modeling_utils"
LIGHTNING, LIGHTNING_OLD = "lightning.pytorch.", "pytorch_lightning."
# Module, class ("": a function of the module), name, the phase while it runs.
PHASE_CALLS = (
    ("torch.serialization", "", "save", SAVE),
    ("transformers.trainer", "Trainer", "evaluate", EVAL),
    ("transformers.trainer", "Trainer", "predict", EVAL),
    ("transformers.trainer", "Trainer", "_save_checkpoint", SAVE),
    ("transformers.trainer", "Trainer", "save_model", SAVE),
    (HF_MODELS, "PreTrainedModel", "save_pretrained", SAVE),
    (LIGHTNING + "loops.evaluation_loop", "_EvaluationLoop", "run", EVAL),
    (LIGHTNING + "trainer.trainer", "Trainer", "save_checkpoint", SAVE),
    (LIGHTNING_OLD + "loops.evaluation_loop", "_EvaluationLoop", "run", EVAL),
    (LIGHTNING_OLD + "trainer.trainer", "Trainer", "save_checkpoint", SAVE),
    ("accelerate.accelerator", "Accelerator", "save_state", SAVE),
    ("accelerate.accelerator", "Accelerator", "save_model", SAVE),
)


class Phases(object):
    """
    What this process does: starts, trains, evaluates, saves. A step says
    train; Module.train() and the calls of PHASE_CALLS say the rest. Python's
    threads share the one phase.
    """

    def __init__(self, channel):
        import threading
        import weakref

        self.channel = channel
        self.local = threading.local()
        self.ref = weakref.ref
        # The module last put into train mode, and what is trained of it.
        self.root = None
        self.root_parameters = None
        # Raised by who changes the phase for good, not for a call.
        self.moves = 0
        self.is_compiling = [never]
        # What to do with a module once it is there.
        self.pending = {
            "torch.nn.modules.module": [self.bind_train],
            "torch.compiler": [self.bind_compiler],
        }
        for module, owner, name, phase in PHASE_CALLS:
            binders = self.pending.setdefault(module, [])
            binders.append(self.call_binder(owner, name, phase))

    def bind(self):
        """Wrap what was imported meanwhile; cheap when nothing was."""
        for name in list(self.pending):
            module = sys.modules.get(name)
            if module is None or is_loading(module):
                continue
            for bind in self.pending.pop(name, ()):
                try:
                    bind(module)
                except Exception:
                    pass

    def bind_train(self, module):
        function = module.Module.__dict__["train"]
        module.Module.train = wraps(function, self.wrap_train(function))

    def bind_compiler(self, module):
        self.is_compiling[0] = module.is_compiling

    def call_binder(self, owner, name, phase):
        def bind(module):
            holder = module.__dict__.get(owner) if owner else module
            # Not what it inherits: that is others' as well.
            function = holder.__dict__.get(name)
            # Neither static nor a property, nor replaced by something.
            if type(function) is not type(never):
                return
            call = wraps(function, self.wrap_call(function, phase))
            setattr(holder, name, call)
            package = sys.modules.get(module.__name__.rpartition(".")[0])
            if not owner and getattr(package, name, None) is function:
                setattr(package, name, call)

        return bind

    def wrap_call(self, function, phase):
        def call(*args, **kwargs):
            before = self.enter(phase)
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                self.leave(before, error)
                raise
            self.leave(before, None)
            return result

        call._torchdynamo_disable = True
        return call

    def enter(self, phase):
        try:
            self.local.depth = self.depth() + 1
            if not self.channel.enter():
                return None
            before = self.channel.get32(PHASE32)
            self.channel.put32(PHASE32, phase)
            return before, self.moves, self.channel.pid
        except Exception:
            return None

    def leave(self, before, error):
        """
        Back to the phase before, unless others have moved it. Where an error
        is on its way out, the phase that it came from stays readable.
        """
        try:
            self.local.depth = self.depth() - 1
            if error is not None and (not self.depth() or is_oom(error)):
                return
            if before and self.channel.enter():
                if before[1:] == (self.moves, self.channel.pid):
                    self.channel.put32(PHASE32, before[0])
        except Exception:
            pass

    def depth(self):
        return getattr(self.local, "depth", 0)

    def wrap_train(self, function):
        """
        Module.train; eval() calls it, and it calls itself on every child.
        torch.compile takes is_compiling() for true and so leaves out the rest.
        """
        under_way = []
        is_compiling = self.is_compiling

        def train(self_, mode=True):
            if under_way or is_compiling[0]():
                return function(self_, mode)
            under_way.append(None)
            try:
                self.turn(self_, mode)
                return function(self_, mode)
            finally:
                under_way.pop()

        return train

    def turn(self, module, mode):
        """The outermost call of Module.train()."""
        try:
            self.bind()
            if self.depth() or not self.channel.enter():
                return
            phase = self.channel.get32(PHASE32)
            if mode:
                if self.is_root(module) and phase in (EVAL, SAVE):
                    stepped = self.channel.has_stepped()
                    self.move(TRAIN if stepped else START)
            elif phase != EVAL and self.is_whole(module):
                if not loads_model(sys._getframe(2)):
                    self.move(EVAL)
        except Exception:
            pass

    def is_root(self, module):
        if self.root is None or self.root() is not module:
            if not is_trained(module):
                return False
            self.root = self.ref(module)
            self.root_parameters = None
        return True

    def is_whole(self, module):
        """
        Not a part of what is trained, whose statistics are to stay as they
        are, nor a teacher beside it.
        """
        root = self.root() if self.root is not None else None
        if root is module:
            return True
        if root is None:
            return is_trained(module) and "Norm" not in type(module).__name__
        if self.root_parameters is None:
            self.root_parameters = {
                id(each) for each in root.parameters() if each.requires_grad
            }
        own = {id(each) for each in module.parameters()}
        return self.root_parameters <= own

    def move(self, phase):
        self.moves += 1
        self.channel.put32(PHASE32, phase)

    def step(self):
        if self.channel.enter() and self.channel.get32(PHASE32) != TRAIN:
            self.move(TRAIN)


def loads_model(frame):
    """Libraries hand out what they loaded in eval mode."""
    while frame is not None:
        if frame.f_code.co_name == "from_pretrained":
            return True
        frame = frame.f_back
    return False
