# Saving, as far as the step hook sees it: something runs meanwhile.
# SPDX-License-Identifier: MIT


def save(obj, f=None):
    obj()
