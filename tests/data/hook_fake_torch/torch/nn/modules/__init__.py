# Only the base is here.
# SPDX-License-Identifier: MIT
