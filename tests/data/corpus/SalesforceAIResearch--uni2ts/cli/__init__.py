# Stands in for time series by Hydra and Lightning.
# SPDX-License-Identifier: MIT
