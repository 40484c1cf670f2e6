# Stands in for fine-tuning under DeepSpeed by a global and a micro batch.
# SPDX-License-Identifier: MIT
