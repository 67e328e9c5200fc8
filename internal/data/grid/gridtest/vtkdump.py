"""Prints what VTK reads from mesh files: for every leaf of every file one JSON
line and the raw bytes of its arrays. Run with the Python that has VTK."""
import json
import sys

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonDataModel import vtkCompositeDataSet
from vtkmodules.vtkIOLegacy import vtkGenericDataObjectReader
from vtkmodules.vtkIOXML import (
    vtkXMLGenericDataObjectReader, vtkXMLPartitionedDataSetCollectionReader, vtkXMLPImageDataReader,
    vtkXMLPPolyDataReader, vtkXMLPRectilinearGridReader, vtkXMLPStructuredGridReader,
    vtkXMLPUnstructuredGridReader, vtkXMLUniformGridAMRReader)
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOExodus import vtkExodusIIReader

PARALLEL = {"pvtu": vtkXMLPUnstructuredGridReader, "pvti": vtkXMLPImageDataReader,
            "pvtr": vtkXMLPRectilinearGridReader, "pvts": vtkXMLPStructuredGridReader,
            "pvtp": vtkXMLPPolyDataReader}


def read(path):
    ext = path.rsplit(".", 1)[-1]
    if ext in ("vthb", "vth"):
        r = vtkXMLUniformGridAMRReader()
        r.SetMaximumLevelsToReadByDefault(0)
    elif ext in PARALLEL:
        r = PARALLEL[ext]()
    elif ext == "vtpc":
        r = vtkXMLPartitionedDataSetCollectionReader()
    elif ext in ("hdf", "vtkhdf"):
        r = vtkHDFReader()
    elif ext in ("ex2", "exo", "e"):
        r = vtkExodusIIReader()
        r.SetFileName(path)
        r.UpdateInformation()
        for kind in (r.ELEM_BLOCK, r.NODAL):
            for i in range(r.GetNumberOfObjectArrays(kind)):
                r.SetObjectArrayStatus(kind, r.GetObjectArrayName(kind, i), 1)
    elif ext == "vtk":
        r = vtkGenericDataObjectReader()
    else:
        r = vtkXMLGenericDataObjectReader()
    r.SetFileName(path)
    if ext == "vtk":
        for what in ("Scalars", "Vectors", "Normals", "Tensors", "TCoords", "Fields", "ColorScalars"):
            getattr(r, "ReadAll%sOn" % what)()
    r.Update()
    return r.GetOutputDataObject(0)


def leaves(obj):
    if isinstance(obj, vtkCompositeDataSet):
        it = obj.NewIterator()
        it.InitTraversal()
        while not it.IsDoneWithTraversal():
            yield it.GetCurrentDataObject()
            it.GoToNextItem()
    elif obj is not None:
        yield obj


def values(a):
    if a.IsA("vtkBitArray"):
        return np.array([a.GetValue(i) for i in range(a.GetNumberOfValues())], dtype=np.uint8)
    return np.ascontiguousarray(vtk_to_numpy(a)).reshape(-1)


def dump(path, i, g, out):
    head = {"file": path, "leaf": i, "class": g.GetClassName(),
            "points": g.GetNumberOfPoints(), "cells": g.GetNumberOfCells(), "arrays": []}
    payload = []

    def add(where, name, a, comps=1):
        a = np.ascontiguousarray(a)
        a = a.astype(a.dtype.newbyteorder("<"))
        head["arrays"].append({"where": where, "name": name, "dtype": a.dtype.str, "comps": comps, "bytes": a.nbytes})
        payload.append(a.tobytes())

    if hasattr(g, "GetSpacing"):
        head.update(origin=g.GetOrigin(), spacing=g.GetSpacing(), extent=g.GetExtent())
    elif hasattr(g, "GetXCoordinates"):
        head["extent"] = g.GetExtent()
        for n, a in zip("xyz", (g.GetXCoordinates(), g.GetYCoordinates(), g.GetZCoordinates())):
            add("axis", n, values(a))
    else:
        if hasattr(g, "GetExtent"):
            head["extent"] = g.GetExtent()
        if g.GetPoints():
            add("geometry", "points", values(g.GetPoints().GetData()), 3)
    conn, offsets, types = [], [0], []
    big = g.GetNumberOfCells() > 50000  # implicit cells of large grids: the first ones suffice
    for c in range(min(g.GetNumberOfCells(), 2000) if big else g.GetNumberOfCells()):
        types.append(g.GetCellType(c))
        ids = g.GetCell(c).GetPointIds()
        conn.extend(ids.GetId(k) for k in range(ids.GetNumberOfIds()))
        offsets.append(len(conn))
    add("geometry", "conn", np.array(conn, dtype=np.int64))
    add("geometry", "offsets", np.array(offsets, dtype=np.int64))
    add("geometry", "types", np.array(types, dtype=np.uint8))
    for where, d in (("point", g.GetPointData()), ("cell", g.GetCellData()), ("field", g.GetFieldData())):
        for k in range(d.GetNumberOfArrays()):
            a = d.GetAbstractArray(k)
            if a.IsA("vtkStringArray"):
                head["arrays"].append({"where": where, "name": a.GetName(), "dtype": "", "comps": a.GetNumberOfComponents(),
                                       "bytes": 0, "text": [a.GetValue(j) for j in range(a.GetNumberOfValues())]})
            elif a.IsA("vtkDataArray"):
                add(where, a.GetName(), values(a), a.GetNumberOfComponents())
    head["bytes"] = sum(len(p) for p in payload)
    out.write(json.dumps(head).encode() + b"\n")
    for p in payload:
        out.write(p)


for path in sys.argv[1:]:
    n = 0
    for n, g in enumerate(leaves(read(path)), 1):
        dump(path, n - 1, g, sys.stdout.buffer)
    sys.stdout.buffer.write(json.dumps({"file": path, "leaves": n}).encode() + b"\n")
