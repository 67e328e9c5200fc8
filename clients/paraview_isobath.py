# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Shows Isobath's fields on the user's own mesh in ParaView.

In the program:      ISOBATH_DUMPS='dumps/*.vtk' paraview --script=paraview_isobath.py
                     or open the dumps, then Tools, Python Shell, Run Script
Without a window:    pvpython paraview_isobath.py DUMP... [--mode upto] [--field latency_avg] [--png out.png]
From another script: from paraview_isobath import Viewer

The mesh files stay as they are. The address and token come from the token file
of `isobath mesh --link` (or ISOBATH_LINK=FILE).
"""
import glob
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else os.environ.get("ISOBATH_CLIENTS", os.getcwd())
sys.path.insert(0, HERE)
import isobath  # noqa: E402
from paraview import simple as pv  # noqa: E402
from paraview import vtk  # noqa: E402
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy  # noqa: E402

# The filter runs in this process; it finds the link through sys.modules. The
# revision in the first line makes ParaView run it again: the same text would not.
SCRIPT = """# revision {rev} {mode} {fields}
import sys
sys.modules["isobath_viewer"].fill(self, {mode!r}, {fields!r}, {mesh!r})
"""


class Registry:
    """What the filter's script reaches."""

    link = None
    last = None  # counts of the newest answer
    errors = []


def fill(filt, mode, fields, mesh):
    """Body of the programmable filter: copies the input and adds one array per field."""
    try:
        source, output = filt.GetInputDataObject(0, 0), filt.GetOutputDataObject(0)
        if isinstance(source, vtk.vtkUniformGridAMR):
            fill_amr(source, output, mode, fields, mesh)
            return
        output.ShallowCopy(source)
        if isinstance(source, vtk.vtkCompositeDataSet):
            output.CopyStructure(source)
            it, domain = source.NewIterator(), 0
            it.InitTraversal()
            while not it.IsDoneWithTraversal():
                leaf = it.GetCurrentDataObject().NewInstance()
                leaf.ShallowCopy(it.GetCurrentDataObject())
                add(leaf, mode, fields, mesh, cycle_of(leaf), domain, 0)
                output.SetDataSet(it, leaf)
                domain += 1
                it.GoToNextItem()
            return
        add(output, mode, fields, mesh, cycle_of(source), 0, 0)
    except Exception as e:  # ParaView prints it and goes on; callers must see it
        Registry.errors.append(str(e))
        raise


def cycle_of(data):
    """The iteration of a dump, as the simulation wrote it."""
    for name in ("CYCLE", "cycle", "Cycle", "ITERATION", "iteration"):
        a = data.GetFieldData().GetArray(name)
        if a is not None and a.GetNumberOfTuples() == 1:
            return int(a.GetTuple1(0))
    return None


def add(data, mode, fields, mesh, iteration, domain, level):
    Registry.link.check_mesh(data.GetNumberOfCells(), mesh, domain, level, iteration=iteration)
    got = Registry.link.field(*fields, mode=mode, iteration=iteration, mesh=mesh, domain=domain, level=level)
    Registry.last = got
    for name, values in got.items():
        put(data, name, values)


def put(data, name, values):
    a = numpy_to_vtk(values.astype("f8"), deep=1)
    a.SetName(name)
    data.GetCellData().AddArray(a)


def fill_amr(source, output, mode, fields, mesh):
    """Blocks of a level lie one after another in the level's field."""
    output.ShallowCopy(source)
    for level in range(source.GetNumberOfLevels()):
        blocks = [b for b in range(source.GetNumberOfDataSets(level)) if source.GetDataSet(level, b) is not None]
        cells = sum(source.GetDataSet(level, b).GetNumberOfCells() for b in blocks)
        Registry.link.check_mesh(cells, mesh, 0, level)
        got = Registry.link.field(*fields, mode=mode, mesh=mesh, level=level)
        Registry.last, first = got, 0
        for b in blocks:
            old = source.GetDataSet(level, b)
            grid = old.NewInstance()
            grid.ShallowCopy(old)
            for name, values in got.items():
                put(grid, name, values[first:first + old.GetNumberOfCells()])
            first += old.GetNumberOfCells()
            output.SetDataSet(level, b, grid)


class Viewer:
    """A source with Isobath's fields on it."""

    def __init__(self, source, fields=("latency_avg", "samples"), mode="upto", mesh=None, link=None):
        Registry.link = link or isobath.connect(client="paraview")
        sys.modules["isobath_viewer"] = sys.modules[__name__]
        self.fields, self.mode, self.mesh = list(fields), mode, mesh
        self.filter = pv.ProgrammableFilter(Input=source)
        self.filter.OutputDataSetType = "Same as Input"
        self._picking = False
        Registry.link.subscribe()
        self.refresh()

    def refresh(self, mode=None, time=None):
        """Asks for the fields of the current selection and redraws."""
        self.mode = mode or self.mode
        Registry.errors.clear()
        self.filter.Script = SCRIPT.format(rev=Registry.link.rev, mode=self.mode, fields=self.fields, mesh=self.mesh)
        self.filter.UpdatePipeline(time) if time is not None else self.filter.UpdatePipeline()
        if Registry.errors:
            raise isobath.Error("filter", Registry.errors[-1])

    def show(self, view=None):
        """Colours by the first field; cells without samples are grey."""
        view = view or pv.GetActiveViewOrCreate("RenderView")
        rep = pv.Show(self.filter, view)
        pv.ColorBy(rep, ("CELLS", self.fields[0]))
        rep.RescaleTransferFunctionToDataRange(True)
        pv.GetColorTransferFunction(self.fields[0]).NanColor = [0.6, 0.6, 0.6]
        rep.SetScalarBarVisibility(view, True)
        pv.Render(view)

    def poll(self, seconds=0.0):
        """Takes over a selection made elsewhere; true when there was one."""
        try:
            change = Registry.link.poll(seconds)
        except OSError:
            Registry.link.reconnect()
            change = {"rev": Registry.link.rev}
        if change is None:
            return False
        self._picking = True  # what we show now must not be sent back
        try:
            self.refresh()
        finally:
            self._picking = False
        return True

    def pick(self, selection_source=None, op="replace"):
        """Sends the cells selected in ParaView; the samples on them are selected everywhere."""
        if self._picking:
            return None
        extract = pv.ExtractSelection(Input=self.filter, Selection=selection_source)
        extract.UpdatePipeline()
        ids = pv.servermanager.Fetch(extract).GetCellData().GetArray("vtkOriginalCellIds")
        pv.Delete(extract)
        cells = vtk_to_numpy(ids) if ids is not None else []
        return Registry.link.pick(cells, op=op if len(cells) else "clear", mesh=self.mesh)


def main(args):
    import argparse

    p = argparse.ArgumentParser(description="Isobath's fields on the mesh of DUMP files")
    p.add_argument("dumps", nargs="*")
    p.add_argument("--field", action="append")
    p.add_argument("--mode", default="upto", choices=("all", "upto", "only"))
    p.add_argument("--png")
    a, _ = p.parse_known_args(args)  # the window program passes its own arguments on
    dumps = a.dumps or sorted(glob.glob(os.environ.get("ISOBATH_DUMPS", "")))
    source = pv.OpenDataFile(dumps) if dumps else pv.GetActiveSource()
    if source is None:
        sys.exit("paraview_isobath: open a mesh first, or name its files")
    viewer = Viewer(source, a.field or ["latency_avg", "samples"], a.mode)
    viewer.show()
    if a.png:
        pv.SaveScreenshot(a.png)
        return
    view = pv.GetActiveView()
    interactor = view.GetInteractor()
    if interactor:  # the program with a window: look for changes ten times a second
        interactor.AddObserver("TimerEvent", lambda *_: viewer.poll() and pv.Render(view))
        interactor.CreateRepeatingTimer(100)
        globals()["isobath_view"] = viewer
    else:
        while True:
            if viewer.poll(1.0):
                pv.Render(view)


if __name__ == "__main__":
    # ParaView runs the filter's script in __main__ and fills that with names of
    # its own (add, sum, pi, ...), so the work is done in a module.
    import paraview_isobath

    paraview_isobath.main(sys.argv[1:])
