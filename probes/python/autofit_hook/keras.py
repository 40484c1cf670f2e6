# Batches that fit() of Keras has trained on, whatever it runs on.
# SPDX-License-Identifier: MIT
import os
import sys

from autofit_hook.channel import FIRST32, PHASE32, TORCH, TRAIN
from autofit_hook.steps import LOOK_AT_STEPS
from autofit_hook.wrapping import attribute_of, is_loading, never, wraps

# Where versions of Keras have the class that tells callbacks of each batch.
KERAS_CALLBACKS = (
    "keras.src.callbacks.callback_list",
    "keras.src.callbacks",
    "keras.callbacks",
    "tf_keras.src.callbacks",
    "tensorflow.python.keras.callbacks",
)
# Its methods for a batch that was trained on: the first may only ask another
# thread to call the second, which waits for what was computed.
KERAS_BATCH_ENDS = ("_on_train_batch_end", "on_train_batch_end")


class Batches(object):
    """
    Batches that fit() of Keras has trained on: its list of callbacks hears of
    each, whether a bar is printed or not. They count as passes that are made
    by hand do, for none of its optimizers is one of torch's. Where torch makes
    the passes, those are counted instead.
    """

    def __init__(self, channel, modules):
        self.channel = channel
        self.modules = modules
        self.pending = list(KERAS_CALLBACKS)
        self.pid = os.getpid()
        self.trained = 0

    def bind(self):
        """Wrap what was imported meanwhile; cheap when nothing was."""
        for name in self.pending:
            module = sys.modules.get(name)
            if module is not None and not is_loading(module):
                # The list that is walked stays as it is.
                self.pending = [n for n in self.pending if n != name]
                self.bind_list(attribute_of(module, "CallbackList"))

    def bind_list(self, holder):
        for name in KERAS_BATCH_ENDS:
            function = getattr(holder, "__dict__", {}).get(name)
            if type(function) is type(never):
                if not hasattr(function, "_autofit_counts"):
                    setattr(holder, name, self.wrap(function))
                return

    def wrap(self, function):
        def batch_end(*args, **kwargs):
            result = function(*args, **kwargs)
            self.count()
            return result

        batch_end = wraps(function, batch_end)
        batch_end._autofit_counts = True
        return batch_end

    def count(self):
        """A batch was trained on; never raises."""
        try:
            channel = self.channel
            if not channel.enter():
                return
            if self.pid != os.getpid():
                self.pid, self.trained = os.getpid(), 0
            if channel.has_stepped():
                return
            # Another count than the own one is that of torch's passes.
            if channel.get32(FIRST32) != self.trained:
                return
            self.trained = min(self.trained + 1, 0xFFFFFFFF)
            if self.trained in LOOK_AT_STEPS:
                self.modules.publish()
            channel.put32(PHASE32, TRAIN)
            channel.flag(TORCH)
            channel.put32(FIRST32, self.trained)
        except Exception:
            pass
