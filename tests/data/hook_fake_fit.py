# Trains and evaluates with the stand-in for Keras: BATCHES, then torch or fork.
# SPDX-License-Identifier: MIT
import os
import sys

import keras

batches = int(sys.argv[1])
told = []
callbacks = keras.src.callbacks.CallbackList([lambda *args: told.append(args)])
if "torch" in sys.argv:
    import torch

    weight = type("Weight", (), {"grad": None})()
    torch.optim.SGD([weight])
    torch.optim.Adam([weight]).step()
if "fork" in sys.argv:
    callbacks.on_train_batch_end(0)
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        sys.exit()
for batch in range(batches):
    callbacks.on_train_batch_end(batch, logs={"loss": 1})
    callbacks.on_test_batch_end(batch)
print("told %d" % len(told))
