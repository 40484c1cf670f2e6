# As in Keras 3, which may call callbacks in a thread; FAKE_OLD: as in Keras 2.
# SPDX-License-Identifier: MIT
import os
import threading


class Callback(object):
    def on_train_batch_end(self, batch, logs=None):
        raise NotImplementedError


class CallbackList(Callback):
    def __init__(self, callbacks):
        self.callbacks = callbacks

    def on_train_batch_end(self, batch, logs=None):
        if os.environ.get("FAKE_OLD"):
            self.tell(batch, logs)
        else:
            thread = threading.Thread(
                target=self._on_train_batch_end, args=(batch, logs)
            )
            thread.start()
            thread.join()

    def on_test_batch_end(self, batch, logs=None):
        self.tell(batch, logs)

    def tell(self, batch, logs):
        for callback in self.callbacks:
            callback(batch, logs)

    if not os.environ.get("FAKE_OLD"):

        def _on_train_batch_end(self, batch, logs=None):
            self.tell(batch, logs)
