# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""ParaView plugin: the filter "Isobath" puts Isobath's fields on the user's own mesh.

    Tools, Manage Plugins, Load New, this file     (tick Auto Load to keep it)
    paraview --plugin=isobath_paraview.py          (beside isobath.py and isobath_viewer.py)

Then open the dumps, Filters, Isobath, Apply. The filter takes the iteration from the
dump or from the pipeline's time, follows what is selected in Isobath, and its button
"Select these samples" sends the cells selected in ParaView. With a pvserver load the
plugin on both sides; the filter then runs, and connects, where the server is.

Debian 12's ParaView 5.11 cannot load any Python plugin by itself: it calls a function
that its Python 3.11 no longer has. paraview_isobath.py loads this one there too.
"""
import inspect
import os
import sys

if not hasattr(inspect, "getargspec"):
    inspect.getargspec = inspect.getfullargspec
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import isobath  # noqa: E402
import isobath_viewer  # noqa: E402
import vtk  # noqa: E402
from paraview.util.vtkAlgorithm import VTKPythonAlgorithmBase, smdomain, smhint, smproperty, smproxy  # noqa: E402
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy  # noqa: E402

CELL = "isobath_cell"
FIELDS = ("latency_avg", "latency_sum", "latency_max", "samples")
MODES = ("all", "upto", "only")


def cycle_of(data):
    """The iteration of a dump, as the simulation wrote it."""
    for name in ("CYCLE", "cycle", "Cycle", "ITERATION", "iteration"):
        a = data.GetFieldData().GetArray(name)
        if a is not None and a.GetNumberOfTuples() == 1:
            return int(a.GetTuple1(0))
    return None


def leaves(data):
    """The data sets of a composite one with their numbers, or the one data set."""
    if not isinstance(data, vtk.vtkCompositeDataSet):
        return [(0, data)]
    it, found = data.NewIterator(), []
    it.InitTraversal()
    while not it.IsDoneWithTraversal():
        found.append((len(found), it.GetCurrentDataObject()))
        it.GoToNextItem()
    return found


@smproxy.filter(name="Isobath", label="Isobath")
@smhint.xml('<ShowInMenu category="Isobath"/>')
@smhint.xml('<LiveSource interval="100"/>')
@smproperty.input(name="Input", port_index=0)
@smdomain.datatype(dataTypes=["vtkDataSet", "vtkCompositeDataSet"], composite_data_supported=True)
class IsobathFilter(VTKPythonAlgorithmBase):
    """Copies its input and adds one cell array a field, and the names of the cells."""

    def __init__(self):
        super().__init__(nInputPorts=1, nOutputPorts=1, inputType="vtkDataObject", outputType="vtkDataObject")
        self._file, self._mesh, self._mode, self._rev = "", "", 1, 0
        self._scene = None
        self._fields = vtk.vtkDataArraySelection()
        for name in FIELDS:
            self._fields.AddArray(name, name in ("latency_avg", "samples"))
        self._fields.AddObserver("ModifiedEvent", lambda *_: self.Modified())

    @smproperty.dataarrayselection(name="Fields")
    def GetFields(self):
        return self._fields

    @smproperty.xml("""<IntVectorProperty name="Mode" command="SetMode" number_of_elements="1" default_values="1">
        <EnumerationDomain name="enum">
          <Entry value="0" text="all iterations"/><Entry value="1" text="up to this dump"/><Entry value="2" text="since the dump before"/>
        </EnumerationDomain></IntVectorProperty>""")
    def SetMode(self, mode):
        self._set("_mode", mode)

    @smproperty.stringvector(name="Mesh", default_values="", panel_visibility="advanced")
    def SetMesh(self, mesh):
        self._set("_mesh", mesh or "")

    @smproperty.stringvector(name="LinkFile", default_values="", panel_visibility="advanced")
    def SetLinkFile(self, file):
        self._set("_file", file or "")

    @smproperty.intvector(name="Revision", default_values=0, panel_visibility="never")
    def SetRevision(self, rev):
        """Another number makes the filter ask again."""
        self._set("_rev", rev)

    def _set(self, name, value):
        if getattr(self, name) != value:
            if name in ("_file", "_mesh"):
                self._scene = None
            setattr(self, name, value)
            self.Modified()

    def scene(self):
        if self._scene is None:
            self._scene = isobath_viewer.Scene(self._mesh or None, link_file=self._file or None, client="paraview")
        return self._scene

    def GetNeedsUpdate(self):
        """Asked by ParaView ten times a second: has somebody selected something?"""
        if self._scene is None:
            return False
        try:
            changed = self._scene.changed()
        except (OSError, isobath.Error, ValueError):
            return False  # the program is gone; the picture stays
        if changed:
            self.Modified()
        return changed

    # The cells selected in ParaView live where its window is: the button works when
    # the filter runs there too, and says what to do when it runs on a pvserver.
    @smproperty.xml('<Property name="Pick" label="Select these samples" command="Pick" panel_widget="command_button"/>')
    def Pick(self):
        pick()

    # Names of cells, sent by pick() as text: a property reaches a filter on a server.
    @smproperty.stringvector(name="PickedCells", default_values="", panel_visibility="never")
    def SetPickedCells(self, text):
        if not text:
            return
        op, _, names = text.partition(" ")
        self.scene().pick([int(n) for n in names.split()], op=op)

    def FillInputPortInformation(self, port, info):
        info.Set(self.INPUT_REQUIRED_DATA_TYPE(), "vtkDataSet")
        info.Append(self.INPUT_REQUIRED_DATA_TYPE(), "vtkCompositeDataSet")
        return 1

    def RequestDataObject(self, request, inInfo, outInfo):
        source, output = self.GetInputData(inInfo, 0, 0), self.GetOutputData(outInfo, 0)
        if output is None or not output.IsA(source.GetClassName()):
            outInfo.GetInformationObject(0).Set(vtk.vtkDataObject.DATA_OBJECT(), source.NewInstance())
        return 1

    def RequestData(self, request, inInfo, outInfo):
        try:
            return self._fill(inInfo, outInfo)
        except Exception as e:
            isobath_viewer.last_error = e
            raise

    def _fill(self, inInfo, outInfo):
        source, output = self.GetInputData(inInfo, 0, 0), self.GetOutputData(outInfo, 0)
        iteration = self._iteration(source, inInfo[0].GetInformationObject(0), outInfo.GetInformationObject(0))
        if isinstance(source, vtk.vtkUniformGridAMR):
            self._fill_amr(source, output, iteration)
        elif isinstance(source, vtk.vtkCompositeDataSet):
            self._fill_blocks(source, output, iteration)
        else:
            output.ShallowCopy(source)
            self._add(output, iteration, 0)
        return 1

    def _iteration(self, source, in_info, out_info):
        """The iteration that the pipeline's time means."""
        key = vtk.vtkStreamingDemandDrivenPipeline
        times = list(in_info.Get(key.TIME_STEPS()) or ()) if in_info.Has(key.TIME_STEPS()) else []
        time = out_info.Get(key.UPDATE_TIME_STEP()) if out_info.Has(key.UPDATE_TIME_STEP()) else None
        if source.GetInformation().Has(vtk.vtkDataObject.DATA_TIME_STEP()):
            time = source.GetInformation().Get(vtk.vtkDataObject.DATA_TIME_STEP())  # what the reader took
        step = min(range(len(times)), key=lambda i: abs(times[i] - time)) if times and time is not None else 0 if len(times) <= 1 else None
        cycles = [c for c in (cycle_of(d) for d in [source] + [leaf for _, leaf in leaves(source)]) if c is not None]
        return self.scene().iteration(cycles[0] if cycles else None, step, max(1, len(times)), time)

    def _names(self):
        return [n for n in FIELDS if self._fields.ArrayIsEnabled(n)]

    def _add(self, data, iteration, domain):
        if self._names():
            got = self.scene().fields(self._names(), data.GetNumberOfCells(), MODES[self._mode], iteration, domain)
            for name, values in got.items():
                put(data, name, values.astype("f8"))
            self._say(data)
        put(data, CELL, isobath_viewer.cell_names(data.GetNumberOfCells(), domain))

    def _say(self, data):
        """What became of the samples, beside the mesh as field data: on cells, without a
        cell, out of range."""
        for name, n in self.scene().last.counts.items():
            a = vtk.vtkIdTypeArray()
            a.SetName("isobath_" + name)
            a.InsertNextValue(int(n))
            data.GetFieldData().AddArray(a)

    def _fill_blocks(self, source, output, iteration):
        output.CopyStructure(source)
        it, domain = source.NewIterator(), 0
        it.InitTraversal()
        while not it.IsDoneWithTraversal():
            leaf = it.GetCurrentDataObject().NewInstance()
            leaf.ShallowCopy(it.GetCurrentDataObject())
            self._add(leaf, iteration, domain)
            output.SetDataSet(it, leaf)
            domain += 1
            it.GoToNextItem()

    def _fill_amr(self, source, output, iteration):
        """Blocks of a level lie one after another in the level's field."""
        output.ShallowCopy(source)
        for level in range(source.GetNumberOfLevels()):
            blocks = [b for b in range(source.GetNumberOfDataSets(level)) if source.GetDataSet(level, b) is not None]
            cells = sum(source.GetDataSet(level, b).GetNumberOfCells() for b in blocks)
            got = dict(self.scene().fields(self._names(), cells, MODES[self._mode], iteration, 0, level)) if self._names() else {}
            got[CELL] = isobath_viewer.cell_names(cells, 0, level)
            first = 0
            for b in blocks:
                old = source.GetDataSet(level, b)
                grid = old.NewInstance()
                grid.ShallowCopy(old)
                for name, values in got.items():
                    part = values[first:first + old.GetNumberOfCells()]
                    put(grid, name, part if name == CELL else part.astype("f8"))
                first += old.GetNumberOfCells()
                output.SetDataSet(level, b, grid)


def put(data, name, values):
    a = numpy_to_vtk(values, deep=1)
    a.SetName(name)
    data.GetCellData().AddArray(a)


def pick(source=None, op="replace"):
    """Sends the cells selected in ParaView, on the filter or on anything made of it:
    the samples on them are selected everywhere. Returns how many cells."""
    from paraview import simple as pv

    for proxy in ([source] if source else list(pv.GetSources().values())):
        selection = proxy.SMProxy.GetSelectionInput(0)
        if selection is None:
            continue
        names = selected_names(pv, proxy, selection)
        if names is None:
            continue  # selected on something that does not come from the filter
        target = filter_of(pv, proxy)
        for text in ("", op + " " + " ".join(str(n) for n in names)):  # the same cells again are a pick again
            target.PickedCells = text
            target.SMProxy.UpdateVTKObjects()
        return len(names)
    raise isobath.Error("pick", "select cells of the filter Isobath first (or of a slice or threshold of it): the key S and a drag,"
                        " or Edit, Find Data. On a pvserver use the Python shell: import isobath_paraview; isobath_paraview.pick()")


def selected_names(pv, proxy, selection):
    extract = pv.ExtractSelection(Input=proxy, Selection=pv.servermanager._getPyProxy(selection))
    try:
        extract.UpdatePipeline()
        arrays = [leaf.GetCellData().GetArray(CELL) for _, leaf in leaves(pv.servermanager.Fetch(extract))]
    finally:
        pv.Delete(extract)
    arrays = [vtk_to_numpy(a) for a in arrays if a is not None]
    return None if not arrays else sorted({int(n) for a in arrays for n in a})


def filter_of(pv, proxy):
    """The filter Isobath that a proxy is or comes from."""
    while proxy is not None:
        if proxy.GetXMLName() == "Isobath":
            return proxy
        proxy = getattr(proxy, "Input", None)
    raise isobath.Error("pick", "what is selected does not come from the filter Isobath")
