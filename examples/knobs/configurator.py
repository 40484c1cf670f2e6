# Overrides global variables of nanogpt_style.py, as nanoGPT's file does.
# SPDX-License-Identifier: MIT
"""A word is --name=value, of the type that name has, or a file of Python.

What comes later wins, whether it is a file or an option.
"""
import sys
from ast import literal_eval

for word in sys.argv[1:]:
    if "=" not in word:
        assert not word.startswith("--")
        print("Overriding config with %s:" % word)
        exec(open(word).read())
        continue
    assert word.startswith("--")
    key, val = word[2:].split("=")
    if key not in globals():
        raise ValueError("Unknown config key: %s" % key)
    try:
        attempt = literal_eval(val)
    except (SyntaxError, ValueError):
        attempt = val
    assert type(attempt) == type(globals()[key])
    print("Overriding: %s = %s" % (key, attempt))
    globals()[key] = attempt
