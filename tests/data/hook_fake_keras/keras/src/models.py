# Imported after the callbacks, as much of Keras is.
# SPDX-License-Identifier: MIT
