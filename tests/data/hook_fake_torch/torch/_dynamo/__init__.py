# Imported by those who compile.
# SPDX-License-Identifier: MIT
