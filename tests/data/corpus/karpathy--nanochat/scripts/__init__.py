# Stands in for pretraining by a batch per device and a total in tokens.
# SPDX-License-Identifier: MIT
