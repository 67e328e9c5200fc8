# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""EXPERIMENTAL, not run by its authors: Isobath's fields in VisIt.

    visit -cli -s visit_isobath.py DATABASE

VisIt is not packaged for Debian. The calls follow the Python expressions in
the tests and tutorials of VisIt 3.4: an expression takes at least one variable
of the database, which gives it its mesh.

VisIt evaluates the expression in its compute engine, once per domain, so the
expression opens its own connection there; ISOBATH_LINK must name a token file
that the engine can read. At most 16 connections are admitted.
"""
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else os.getcwd()

# The revision in the text makes VisIt evaluate the expression again.
EXPRESSION = '''# revision {rev}
import sys
sys.path.insert(0, {folder!r})
import isobath_viewer
import vtk
from vtk.util.numpy_support import numpy_to_vtk

_scene = None


class PerfVar(SimplePythonExpression):
    def __init__(self):
        SimplePythonExpression.__init__(self)
        self.name = "PerfVar"
        self.description = "Isobath {field}"
        self.output_is_point_var = False
        self.output_dimension = 1

    def derive_variable(self, ds_in, domain_id):
        global _scene
        if _scene is None:
            _scene = isobath_viewer.Scene(client="visit")
        got = _scene.fields([{field!r}], ds_in.GetNumberOfCells(), {mode!r}, {iteration!r}, max(0, domain_id))
        a = numpy_to_vtk(got[{field!r}].astype("f4"), deep=1)
        a.SetName(self.name)
        return a


py_filter = PerfVar
'''


def define(scene, variable, field="latency_avg", mode="upto", again=True):
    """Defines, or defines again, the cell variable PerfVar on the mesh of a variable, for
    the dump that the time slider is at."""
    steps = TimeSliderGetNStates()  # noqa: F821
    iteration = scene.iteration(step=SliderState() if steps > 1 else 0, steps=max(1, steps))
    text = EXPRESSION.format(rev=scene.link.rev, folder=FOLDER, field=field, mode=mode, iteration=iteration)
    if again:
        DeleteExpression("PerfVar")  # noqa: F821  VisIt's own command
    DefinePythonExpression("PerfVar", (variable,), source=text)  # noqa: F821


def first_variable(database):
    """A scalar of the database: its mesh is the one that samples are on."""
    meta = GetMetaData(database)  # noqa: F821
    if meta.GetNumScalars() == 0:
        sys.exit("visit_isobath: %s has no scalar variable to take the mesh from" % database)
    return meta.GetScalars(0).name


def SliderState():
    """The state of the active time slider."""
    return TimeSliderGetActive() and GetWindowInformation().timeSliderCurrentStates[0]  # noqa: F821


def main(database):
    sys.path.insert(0, FOLDER)
    import isobath_viewer

    scene = isobath_viewer.Scene(client="visit-cli")
    OpenDatabase(database)  # noqa: F821
    variable = first_variable(database)
    define(scene, variable, again=False)
    AddPlot("Pseudocolor", "PerfVar")  # noqa: F821
    DrawPlots()  # noqa: F821
    while True:
        if scene.changed(1.0):
            define(scene, variable)
            DrawPlots()  # noqa: F821


if __name__ == "__main__" and len(sys.argv) > 1:
    main(sys.argv[-1])
