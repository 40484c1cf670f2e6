# Stands in for speech synthesis by Lightning with the Trainer's own options.
# SPDX-License-Identifier: MIT
