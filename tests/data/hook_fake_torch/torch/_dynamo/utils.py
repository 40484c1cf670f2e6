# The counters of torch.compile.
# SPDX-License-Identifier: MIT
counters = {}
