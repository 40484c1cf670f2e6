# Stands in for point clouds by a config in Python.
# SPDX-License-Identifier: MIT
