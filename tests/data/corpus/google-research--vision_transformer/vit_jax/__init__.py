# Stands in for a classifier on JAX whose batch is split into pieces.
# SPDX-License-Identifier: MIT
