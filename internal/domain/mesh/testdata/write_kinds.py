"""Writes meshes as ParaView does, in kinds of files that people bring, into the folder
that is named, then opens each of them with ParaView's own reader and prints what that
finds, one JSON object a line. Kinds that only one of the two programs reads have no line."""
import json
import os
import sys

from paraview import simple
from vtkmodules.util.numpy_support import vtk_to_numpy

folder = sys.argv[1]
grid = simple.PointDatatoCellData(Input=simple.Wavelet(WholeExtent=[-3, 3, -3, 3, -3, 3]), PassPointData=1)
solid = simple.Calculator(Input=simple.AppendDatasets(Input=[grid]), Function="iHat*(coordsX+4)+jHat*(coordsY+5)", ResultArrayName="vel")
tetrahedra = simple.Tetrahedralize(Input=solid)
surface = simple.ExtractSurface(Input=solid)


def half(low, high):
    """A part of the grid, which shares a side with the other part."""
    return simple.AppendDatasets(Input=[simple.Wavelet(WholeExtent=[low, high, -3, 3, -3, 3])])


blocks = simple.GroupDatasets(Input=[grid, tetrahedra, solid])
KINDS = {
    "solid.vtu": solid,
    "solid.pvtu": solid,
    "image.pvti": grid,
    "tetrahedra.vtu": tetrahedra,
    "blocks.vtm": blocks,
    "ghosts.vtm": simple.GhostCellsGenerator(Input=simple.GroupDatasets(Input=[half(-3, 0), half(0, 3)])),
    "solid.ex2": solid,
    "surface.vtp": surface,
    "surface.vtk": surface,
    "ascii.vtk": solid,
}
UNREAD = {"solid.xmf": solid, "surface.ply": surface, "surface.stl": simple.Triangulate(Input=surface), "tree.htg": simple.HyperTreeGridRandom()}


def leaves(data):
    if not data.IsA("vtkCompositeDataSet"):
        return [data]
    walk = data.NewIterator()
    found = []
    walk.InitTraversal()
    while not walk.IsDoneWithTraversal():
        found.append(walk.GetCurrentDataObject())
        walk.GoToNextItem()
    return found


def described(path):
    reader = simple.OpenDataFile(path)
    reader.UpdatePipeline()
    parts = leaves(reader.GetClientSideObject().GetOutputDataObject(0))
    sums = {}
    for part in parts:
        for where, data in (("cells", part.GetCellData()), ("points", part.GetPointData())):
            for i in range(data.GetNumberOfArrays()):
                values = vtk_to_numpy(data.GetArray(i)).astype(float)
                key = where + " " + data.GetArrayName(i)
                sums[key] = sums.get(key, 0) + float(values.sum())
    steps = list(getattr(reader, "TimestepValues", None) or [])
    return {
        "file": os.path.basename(path),
        "cells": sum(p.GetNumberOfCells() for p in parts),
        "points": sum(p.GetNumberOfPoints() for p in parts),
        "steps": max(1, len(steps)),
        "sums": sums,
    }


for name, source in {**KINDS, **UNREAD}.items():
    simple.SaveData(os.path.join(folder, name), proxy=source)
simple.SaveData(os.path.join(folder, "steps.pvd"), proxy=simple.TimeSource(), WriteTimeSteps=1)
for name in [*KINDS, "steps.pvd"]:
    print(json.dumps(described(os.path.join(folder, name))))
