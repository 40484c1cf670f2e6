# Stands in for fine-tuning by a YAML that fire takes.
# SPDX-License-Identifier: MIT
