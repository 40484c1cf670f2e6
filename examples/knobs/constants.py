#!/usr/bin/env python3
# Sizes that are numbers in the script: no argument changes them.
# SPDX-License-Identifier: MIT
"""python3 constants.py"""
import tinylm

BATCH_SIZE = 2
ACCUM = 4


def main():
    tinylm.train(BATCH_SIZE, ACCUM, 20)


if __name__ == "__main__":
    main()
