"""Writes VTKHDF files by the specification into the folder given."""
import sys

import h5py
import numpy as np

rng = np.random.default_rng(11)


def start(name, kind, version=(1, 0), **kw):
    f = h5py.File("%s/%s" % (sys.argv[1], name), "w", **kw)
    g = f.create_group("VTKHDF")
    g.attrs["Version"] = version
    g.attrs.create("Type", np.bytes_(kind))
    return f, g


f, g = start("image.hdf", "ImageData")
g.attrs["WholeExtent"] = (0, 3, 0, 2, 0, 1)
g.attrs["Origin"] = (1.0, 2.0, 3.0)
g.attrs["Spacing"] = (0.5, 0.25, 2.0)
g.attrs["Direction"] = (1.0, 0, 0, 0, 1, 0, 0, 0, 1)
g["PointData/p"] = rng.normal(size=(2, 3, 4))
g["PointData/v"] = rng.normal(size=(2, 3, 4, 3)).astype("f4")
f.close()

f, g = start("pieces.hdf", "UnstructuredGrid", libver="latest")
g["NumberOfPoints"] = [4, 5]
g["NumberOfCells"] = [1, 2]
g["NumberOfConnectivityIds"] = [4, 7]
g["Points"] = rng.normal(size=(9, 3))
g["Types"] = np.array([10, 5, 10], dtype="u1")
g["Offsets"] = [0, 4, 0, 3, 7]
g["Connectivity"] = [0, 1, 2, 3, 0, 1, 2, 1, 2, 3, 4]
g.create_dataset("CellData/rho", data=rng.normal(size=3), chunks=(2,), compression="gzip")
g["PointData/t"] = rng.normal(size=(9, 2))
f.close()

f, g = start("amr.hdf", "OverlappingAMR")
g.attrs["Origin"] = (0.0, 0.0, 0.0)
g.attrs["GridDescription"] = np.bytes_("XYZ")
for l, boxes in enumerate(([(0, 3, 0, 3, 0, 3)], [(2, 3, 2, 5, 2, 5), (4, 5, 2, 5, 2, 5)])):
    level = g.create_group("Level%d" % l)
    level.attrs["Spacing"] = (1.0 / 2**l,) * 3
    level["AMRBox"] = np.array(boxes, dtype="i4")
    for d in ("PointData", "CellData", "FieldData"):
        level.create_group(d)
    n = sum((b[1] - b[0] + 1) * (b[3] - b[2] + 1) * (b[5] - b[4] + 1) for b in boxes)
    level["CellData/rho"] = rng.normal(size=n)
f.close()

f, g = start("steps.hdf", "UnstructuredGrid", (2, 0))
g["NumberOfPoints"] = [5]
g["NumberOfCells"] = [2]
g["NumberOfConnectivityIds"] = [8]
g["Points"] = rng.normal(size=(5, 3))
g["Types"] = np.array([10, 10], dtype="u1")
g["Offsets"] = [0, 4, 8]
g["Connectivity"] = [0, 1, 2, 3, 1, 2, 3, 4]
g["CellData/value"] = np.array([100 * s + c for s in range(3) for c in range(2)], dtype="f8")
s = g.create_group("Steps")
s.attrs["NSteps"] = 3
s["Values"] = [0.0, 0.5, 1.0]
for name in ("PartOffsets", "PointOffsets"):
    s[name] = [0, 0, 0]
s["NumberOfParts"] = [1, 1, 1]
for name in ("CellOffsets", "ConnectivityIdOffsets"):
    s[name] = [[0], [0], [0]]
s["CellDataOffsets/value"] = [0, 2, 4]
f.close()

f, g = start("poly.hdf", "PolyData", (2, 0))
g["NumberOfPoints"] = [5]
g["Points"] = rng.normal(size=(5, 3))
for name, off, conn in (("Vertices", [0, 1], [4]), ("Lines", [0, 2], [0, 1]), ("Polygons", [0, 3, 7], [0, 1, 2, 0, 1, 2, 3]), ("Strips", [0], [])):
    g[name + "/NumberOfCells"] = [len(off) - 1]
    g[name + "/NumberOfConnectivityIds"] = [len(conn)]
    g[name + "/Offsets"] = np.array(off)
    g[name + "/Connectivity"] = np.array(conn, dtype="i8")
f.close()
