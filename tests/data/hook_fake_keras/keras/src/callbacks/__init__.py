# SPDX-License-Identifier: MIT
from keras.src.callbacks.callback_list import CallbackList  # noqa: F401
