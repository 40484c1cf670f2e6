# The result of gpu-check as a page and as JSON: no files, no processes.
# SPDX-License-Identifier: MIT
import json

PASS, FAIL, SKIPPED = "pass", "fail", "skipped"
MEASURED = "measured"
SCHEMA = "autofit.gpu-check/1"


class Outcome:
    """One line of the result. measured: nothing was expected of it."""

    def __init__(self, name, what, expected="", measured="", status=PASS,
                 why="", details=None):
        self.name = name
        self.what = what
        self.expected = expected
        self.measured = measured
        self.status = status
        self.why = why
        self.details = details or {}
        self.seconds = None

    def as_dict(self):
        return dict(self.__dict__)


def cell(text):
    """Within a table of Markdown: one line, no bar that ends the cell."""
    return " ".join(str(text).split()).replace("|", "\\|") or " "


def count(outcomes):
    totals = {PASS: 0, MEASURED: 0, FAIL: 0, SKIPPED: 0}
    for outcome in outcomes:
        totals[outcome.status] += 1
    return totals


def exit_code(outcomes):
    return 1 if any(o.status == FAIL for o in outcomes) else 0


def page(facts, outcomes):
    """facts: (name, value) pairs; the first of them is the date."""
    totals = count(outcomes)
    lines = [
        "# gpu-check on %s, %s" % (dict(facts)["GPU"], dict(facts)["date"]),
        "",
        "Written by `scripts/gpu-check`; every figure was measured there.",
        "%d passed, %d measured without an expectation, %d failed, "
        "%d skipped." % (totals[PASS], totals[MEASURED], totals[FAIL],
                         totals[SKIPPED]),
        "",
        "| | |",
        "|---|---|",
    ]
    lines += ["| %s | %s |" % (cell(name), cell(value))
              for name, value in facts]
    lines += [
        "",
        "| check | what | expected | measured | result |",
        "|---|---|---|---|---|",
    ]
    for o in outcomes:
        result = o.status + (": " + o.why if o.why else "")
        lines.append("| %s | %s | %s | %s | %s |" % tuple(
            cell(text)
            for text in (o.name, o.what, o.expected, o.measured, result)))
    return "\n".join(lines) + "\n"


def as_json(facts, outcomes):
    return json.dumps({
        "schema": SCHEMA,
        "facts": dict(facts),
        "totals": count(outcomes),
        "checks": [outcome.as_dict() for outcome in outcomes],
    }, indent=2, sort_keys=True) + "\n"
