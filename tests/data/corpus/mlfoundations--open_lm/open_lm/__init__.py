# Stands in for pretraining whose total is divided twice.
# SPDX-License-Identifier: MIT
