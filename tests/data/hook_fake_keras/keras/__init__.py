# Stands in for Keras: what tells callbacks of batches, and nothing more.
# SPDX-License-Identifier: MIT
import keras.src.callbacks  # noqa: F401
import keras.src.models  # noqa: F401
