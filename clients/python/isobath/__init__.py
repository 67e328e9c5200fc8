# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Runs of Isobath in Python.

    import isobath
    run = isobath.open("app.isobath")           # or any file that isobath reads, or "demo"
    run["latency"]                              # a NumPy array, mapped from the run
    run.report(by="line", top=5)                # every analysis of the command line is a method
    slow = run.where("latency > 200")           # the same selections
    slow.report(by="symbol").to_pandas()
    run.show()                                  # the page, in the browser

Columns of a run are read from its files. Analyses call the program `isobath`,
found on PATH or named by the variable ISOBATH; its JSON is the contract.
"""
from .answer import Answer, Picture
from .arrow import Column, Table
from .program import Error, program
from .run import Run, diff, open, study

__all__ = ["Answer", "Column", "Error", "Picture", "Run", "Table", "diff", "open", "program", "study"]
