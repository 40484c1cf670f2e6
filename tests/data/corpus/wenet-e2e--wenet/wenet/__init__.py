# Stands in for speech recognition whose sizes are in a YAML.
# SPDX-License-Identifier: MIT
