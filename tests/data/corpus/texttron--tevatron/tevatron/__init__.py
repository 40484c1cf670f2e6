# Stands in for dense retrieval by transformers.
# SPDX-License-Identifier: MIT
