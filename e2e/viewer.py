"""Run by viewer.test.ts under pvpython: ParaView with the user's dumps, linked to
a running program. Obeys lines on stdin and answers each with a line of JSON."""
import json
import os
import sys

sys.path.insert(0, os.environ["ISOBATH_CLIENTS"])
import paraview_isobath as bridge
from paraview import simple as pv
from vtkmodules.util.numpy_support import vtk_to_numpy


def say(**answer):
    print("RESULT " + json.dumps(answer), flush=True)


def samples(viewer):
    data = pv.servermanager.Fetch(viewer.filter)
    return vtk_to_numpy(data.GetCellData().GetArray("samples"))


# In a function: ParaView fills __main__ with names of its own.
def main(files):
    reader = pv.OpenDataFile(files)
    reader.UpdatePipelineInformation()
    last = list(reader.TimestepValues)[-1]
    viewer = bridge.Viewer(reader, ["latency_sum", "samples"], "all")
    viewer.refresh("all", last)
    viewer.show()
    say(ready=True, samples=int(samples(viewer).sum()))
    while line := sys.stdin.readline():
        word, *rest = line.split()
        if word == "follow":  # a selection made elsewhere arrives
            heard = viewer.poll(5.0)
            viewer.refresh("all", last)
            n = samples(viewer)
            say(heard=heard, samples=int(n.sum()), cells=[int(c) for c in n.nonzero()[0]])
        elif word == "pick":  # as a user does, with a rubber band over the middle of the picture
            view = pv.GetActiveView()
            pv.Render(view)
            w, h = view.ViewSize
            pv.SetActiveSource(viewer.filter)
            pv.SelectSurfaceCells(Rectangle=[w // 2 - 150, h // 2 - 150, w // 2 + 150, h // 2 + 150], View=view)
            say(**viewer.pick())
        elif word == "end":
            break


main(sys.argv[1:])
