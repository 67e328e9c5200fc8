"""Run by the test under pvpython: does what a user does in ParaView and prints
one JSON line per result. Reads commands of the test from stdin."""
import json
import math
import os
import sys

sys.path.insert(0, os.environ["ISOBATH_CLIENTS"])
import isobath
import paraview_isobath as bridge
from paraview import simple as pv
from vtkmodules.util.numpy_support import vtk_to_numpy


def say(what, **more):
    print("RESULT " + json.dumps({"what": what, **more}), flush=True)


def values(data, name):
    a = data.GetCellData().GetArray(name)
    if a is None:
        return None
    return [None if math.isnan(v) else v for v in vtk_to_numpy(a).tolist()]


def counts(data):
    found, of = {}, data.GetFieldData()
    for i in range(of.GetNumberOfArrays()):
        if of.GetArrayName(i).startswith("isobath_"):
            found[of.GetArrayName(i)[len("isobath_"):]] = int(of.GetArray(i).GetTuple1(0))
    return found


def fetched(viewer, name):
    return values(pv.servermanager.Fetch(viewer.filter), name)


def lulesh(files):
    source = pv.OpenDataFile(files)
    source.UpdatePipelineInformation()
    other = isobath.connect(client="notebook")
    viewer = bridge.Viewer(source, ["latency_sum", "samples"], "upto")
    times = list(source.TimestepValues)
    say("opened", times=len(times))

    # Someone selects CPUs elsewhere: the picture follows.
    other.select(cpu=(0, 10))
    assert viewer.poll(300.0), "no change arrived"
    for mode in ("all", "upto", "only"):
        for k, t in enumerate(times):
            viewer.refresh(mode, t)
            data = pv.servermanager.Fetch(viewer.filter)
            say("field", mode=mode, iteration=bridge.plugin.cycle_of(data), physics=data.GetCellData().GetArray("e") is not None,
                latency_sum=values(data, "latency_sum"), samples=values(data, "samples"), counts=counts(data))
    viewer.show()
    pv.SaveScreenshot(os.environ["ISOBATH_PNG"])

    # Cells picked in ParaView select samples everywhere, and a range set
    # before stays.
    other.subscribe()
    viewer.refresh("all", times[-1])
    pv.QuerySelect(QueryString="samples >= 2", FieldType="CELL", Source=viewer.filter)
    picked = [i for i, v in enumerate(fetched(viewer, "samples")) if v >= 2]
    viewer.pick()
    heard = other.poll(300.0)
    say("picked", cells=picked, samples=heard["samples"], heard=heard is not None)

    # The program restarts with another address and token.
    say("restart")
    sys.stdin.readline()
    viewer.poll()
    viewer.refresh("all", times[-1])
    say("again", latency_sum=fetched(viewer, "latency_sum"))


def amr(file):
    source = pv.OpenDataFile(file)
    source.DefaultNumberOfLevels = 10
    viewer = bridge.Viewer(source, ["samples"], "all")
    data = viewer.filter.GetClientSideObject().GetOutputDataObject(0)  # Fetch would make it a multi-block
    levels = []
    for l in range(data.GetNumberOfLevels()):
        levels.append([v for b in range(data.GetNumberOfDataSets(l)) for v in values(data.GetDataSet(l, b), "samples")])
    say("levels", levels=levels)


def series(files):
    """Dumps that do not say their iteration; then fewer of them than the program has."""
    source = pv.OpenDataFile(files)
    source.UpdatePipelineInformation()
    viewer = bridge.Viewer(source, ["samples"], "only")
    for t in source.TimestepValues:
        viewer.refresh("only", t)
        say("step", samples=fetched(viewer, "samples"))
    # A threshold of the filter: what is picked there is the same cells.
    last = source.TimestepValues[-1]
    viewer.refresh("all", last)
    part = pv.Threshold(Input=viewer.filter, Scalars=["CELLS", "isobath_cell"], LowerThreshold=3, UpperThreshold=7)
    part.UpdatePipeline(last)
    pv.GetAnimationScene().AnimationTime = last
    pv.Show(part, pv.GetActiveViewOrCreate("RenderView"))
    pv.QuerySelect(QueryString="isobath_cell >= 6", FieldType="CELL", Source=part)
    say("picked", samples=viewer.pick()["cells"])
    pv.ClearSelection(part)
    try:
        bridge.Viewer(pv.OpenDataFile(files[:2]), ["samples"], "only")
        say("refused", text="")
    except isobath.Error as e:
        say("refused", text=str(e))


def blocks(file):
    """Two blocks: cells picked in the second are cells of the second."""
    viewer = bridge.Viewer(pv.OpenDataFile(file), ["samples"], "all")
    data = pv.servermanager.Fetch(viewer.filter)
    say("levels", levels=[values(leaf, "samples") for _, leaf in bridge.plugin.leaves(data)])
    viewer.show()
    pv.QuerySelect(QueryString="isobath_cell >= %d" % (1 << 32), FieldType="CELL", Source=viewer.filter)
    say("picked", samples=viewer.pick()["cells"])


def server(port, files):
    """The filter runs in a pvserver: the plugin is loaded on both sides, and picks reach it."""
    pv.Connect("127.0.0.1", int(port))
    plugin = os.path.join(os.environ["ISOBATH_CLIENTS"], "isobath_paraview.py")
    pv.LoadPlugin(plugin, remote=True)
    pv.LoadPlugin(plugin, remote=False)
    source = pv.OpenDataFile(files)
    source.UpdatePipelineInformation()
    there = pv.Isobath(Input=source)
    there.Fields, there.Mode = ["samples"], bridge.plugin.MODES.index("only")
    assert there.GetClientSideObject() is None, "the filter runs in the client"
    for t in source.TimestepValues:
        there.UpdatePipeline(t)
        say("step", samples=values(pv.servermanager.Fetch(there), "samples"))
    pv.GetAnimationScene().AnimationTime = source.TimestepValues[-1]
    pv.Show(there, pv.GetActiveViewOrCreate("RenderView"))
    pv.QuerySelect(QueryString="(isobath_cell == 7) | (isobath_cell == 9)", FieldType="CELL", Source=there)
    picked = bridge.plugin.pick(there)
    pv.servermanager.Fetch(there)  # what was sent before is done when the server answers
    say("picked", samples=picked)


{
    "lulesh": lambda: lulesh(sys.argv[2:]),
    "amr": lambda: amr(sys.argv[2]),
    "series": lambda: series(sys.argv[2:]),
    "blocks": lambda: blocks(sys.argv[2]),
    "server": lambda: server(sys.argv[2], sys.argv[3:]),
}[sys.argv[1]]()
