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

# An image whose values change, and one array that does not: the first dimension
# counts what is stored.
f, g = start("image-steps.hdf", "ImageData", (2, 0))
g.attrs["WholeExtent"] = (0, 3, 0, 2, 0, 1)
g.attrs["Origin"] = (0.0, 0.0, 0.0)
g.attrs["Spacing"] = (1.0, 1.0, 1.0)
g["PointData/p"] = np.array([1000 * s + np.arange(24) for s in range(2)], dtype="f8").reshape(2, 2, 3, 4)
g["CellData/same"] = np.arange(6, dtype="i4").reshape(1, 1, 2, 3)
g["CellData/v"] = np.array([100 * s + np.arange(18) for s in range(3)], dtype="f4").reshape(3, 1, 2, 3, 3)
s = g.create_group("Steps")
s.attrs["NSteps"] = 3
s["Values"] = [0.0, 0.5, 2.0]
s["PointDataOffsets/p"] = [0, 1, 1]
s["CellDataOffsets/same"] = [0, 0, 0]
s["CellDataOffsets/v"] = [0, 1, 2]
f.close()

# AMR whose second level comes, splits and goes; version 2.2 has other names.
for name, version, s1, s2 in (("amr-steps.hdf", (2, 3), "s", "es"), ("amr-steps-22.hdf", (2, 2), "", "")):
    f, g = start(name, "OverlappingAMR", version)
    g.attrs["Origin"] = (0.0, 0.0, 0.0)
    g.attrs["GridDescription"] = np.bytes_("XYZ")
    steps = g.create_group("Steps")
    steps.attrs["NSteps"] = 3
    steps["Values"] = [0.0, 1.0, 2.0]
    coarse = [(0, 1, 0, 1, 0, 1)]
    fine = [[], [(0, 1, 0, 1, 0, 1)], [(0, 1, 0, 1, 0, 1), (2, 3, 2, 3, 2, 3)]]
    for l, boxes in enumerate(([coarse] * 3, fine)):
        level = g.create_group("Level%d" % l)
        level.attrs["Spacing"] = (1.0 / 2**l,) * 3
        flat = [b for step in boxes for b in step] if l else coarse
        level["AMRBox"] = np.array(flat, dtype="i4").reshape(-1, 6)
        # 8 cells a box: 1000 step + 100 box + cell; the coarse one has a step's own values too.
        values = [[1000 * t + 100 * b + c for b in range(len(step)) for c in range(8)] for t, step in enumerate(boxes)]
        level["CellData/rho"] = np.array(sum(values, []), dtype="f8")
        level.create_group("PointData")
        sg = steps.create_group("Level%d" % l)
        count = [len(step) for step in boxes]
        sg["NumberOfAMRBox" + s2] = count
        sg["AMRBoxOffset" + s1] = [0, 0, 0] if l == 0 else [0, 0, 1]
        sg["CellDataOffset" + s1 + "/rho"] = [sum(map(len, values[:t])) for t in range(3)]
    f.close()


def cube(g, at, steps):
    """Polyhedra: a cube in one part, a tetrahedron and a triangle in the other; steps moves the points."""
    pts = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype="f8")
    tet = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="f8") + 5
    g["NumberOfPoints"] = [8, 4] * steps
    g["Points"] = np.concatenate([np.concatenate([pts, tet]) + at + 10 * s for s in range(steps)])
    g["NumberOfCells"] = [1, 2] * steps
    g["NumberOfConnectivityIds"] = [8, 7] * steps
    g["Types"] = np.array([42, 42, 5] * steps, dtype="u1")
    g["Offsets"] = [0, 8, 0, 4, 7] * steps
    g["Connectivity"] = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 1, 2, 3] * steps
    g["NumberOfFaces"] = [6, 4] * steps
    g["NumberOfFaceConnectivityIds"] = [24, 12] * steps
    g["NumberOfPolyhedronToFaceIds"] = [6, 4] * steps
    g["FaceOffsets"] = [0, 4, 8, 12, 16, 20, 24, 0, 3, 6, 9, 12] * steps
    faces = [0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4, 2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5]
    g["FaceConnectivity"] = (faces + [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]) * steps
    g["PolyhedronOffsets"] = [0, 6, 0, 4, 4] * steps
    g["PolyhedronToFaces"] = [0, 1, 2, 3, 4, 5, 0, 1, 2, 3] * steps
    g["CellData/id"] = np.arange(3 * steps, dtype="i4")


f, g = start("polyhedra.hdf", "UnstructuredGrid", (2, 5))
cube(g, 0, 1)
f.close()

f, g = start("polyhedra-steps.hdf", "UnstructuredGrid", (2, 5))
cube(g, 0, 2)
s = g.create_group("Steps")
s.attrs["NSteps"] = 2
s["Values"] = [0.0, 1.0]
s["PartOffsets"] = [0, 2]
s["NumberOfParts"] = [2, 2]
s["PointOffsets"] = [0, 12]
s["CellOffsets"] = [0, 3]
s["ConnectivityIdOffsets"] = [0, 15]
s["FaceConnectivityOffsets"] = [0, 36]
s["FaceOffsetsOffsets"] = [0, 10]
s["PolyhedronToFaceIdOffsets"] = [0, 10]
s["CellDataOffsets/id"] = [0, 3]
f.close()


def block(g, name, kind, index=None):
    b = g.create_group(name)
    b.attrs["Version"] = (2, 1)
    b.attrs.create("Type", np.bytes_(kind))
    if index is not None:
        b.attrs["Index"] = index
    return b


def image(b, n):
    b.attrs["WholeExtent"] = (0, n, 0, 1, 0, 1)
    b.attrs["Origin"] = (0.0, 0.0, 0.0)
    b.attrs["Spacing"] = (1.0, 1.0, 1.0)
    b["CellData/n"] = np.full((1, 1, n), n, dtype="f8")


def empty(b):
    for name in ("NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"):
        b[name] = np.array([], dtype="i8")


# The order is that of Index, not of names.
f, g = start("collection.hdf", "PartitionedDataSetCollection", (2, 1))
image(block(g, "b", "ImageData", 0), 2)
cube(block(g, "a", "UnstructuredGrid", 1), 0, 1)
empty(block(g, "c", "UnstructuredGrid", 2))
g.create_group("Assembly")
f.close()

# The order is that in which links were made, and groups hold groups.
f, g = start("multiblock.hdf", "MultiBlockDataSet", (2, 1))
image(block(g, "two", "ImageData"), 2)
image(block(g, "three", "ImageData"), 3)
image(block(g, "four", "ImageData"), 4)
a = g.create_group("Assembly", track_order=True)
a["z"] = h5py.SoftLink("/VTKHDF/two")
inner = a.create_group("inner", track_order=True)
inner["y"] = h5py.SoftLink("/VTKHDF/four")
inner["x"] = h5py.SoftLink("/VTKHDF/three")
f.close()

# One topology for all steps, though each has a part of its own.
f, g = start("shared.hdf", "UnstructuredGrid", (2, 0))
g["NumberOfPoints"] = [5, 5, 5]
g["NumberOfCells"] = [2, 2, 2]
g["NumberOfConnectivityIds"] = [8, 8, 8]
g["Points"] = rng.normal(size=(15, 3))
g["Types"] = np.array([10, 10], dtype="u1")
g["Offsets"] = [0, 4, 8]
g["Connectivity"] = [0, 1, 2, 3, 1, 2, 3, 4]
g["CellData/value"] = np.array([100 * s + c for s in range(3) for c in range(2)], dtype="f8")
s = g.create_group("Steps")
s.attrs["NSteps"] = 3
s["Values"] = [0.0, 0.5, 1.0]
s["PartOffsets"] = [0, 1, 2]
s["PointOffsets"] = [0, 5, 10]
s["NumberOfParts"] = [1, 1, 1]
for name in ("CellOffsets", "ConnectivityIdOffsets"):
    s[name] = [[0], [0], [0]]
s["CellDataOffsets/value"] = [0, 2, 4]
f.close()

# Polygonal data whose cells change: each step has a part of its own, and an offset for each
# of the four lists of cells. Values are 100 step + cell.
f, g = start("poly-steps.hdf", "PolyData", (2, 0))
g["NumberOfPoints"] = [4, 5, 4]
g["Points"] = rng.normal(size=(13, 3))
LISTS = {  # by step: the cells of each list
    "Vertices": [[[3]], [[4], [0]], []],
    "Lines": [[], [[0, 1]], [[1, 2], [2, 3]]],
    "Polygons": [[[0, 1, 2], [1, 2, 3]], [[0, 1, 2], [1, 2, 3, 4]], [[0, 1, 2, 3]]],
    "Strips": [[], [], []],
}
first = {name: ([], []) for name in LISTS}
for name, steps in LISTS.items():
    g[name + "/NumberOfCells"] = [len(cells) for cells in steps]
    g[name + "/NumberOfConnectivityIds"] = [sum(map(len, cells)) for cells in steps]
    g[name + "/Offsets"] = np.concatenate([np.cumsum([0] + [len(c) for c in cells]) for cells in steps])
    g[name + "/Connectivity"] = np.array([i for cells in steps for c in cells for i in c], dtype="i8")
    first[name] = [sum(len(cells) for cells in steps[:s]) for s in range(3)], [sum(len(c) for cells in steps[:s] for c in cells) for s in range(3)]
sizes = [sum(len(LISTS[name][s]) for name in LISTS) for s in range(3)]
g["CellData/c"] = np.array([100 * s + c for s in range(3) for c in range(sizes[s])], dtype="f8")
g["PointData/p"] = np.arange(13.0)
s = g.create_group("Steps")
s.attrs["NSteps"] = 3
s["Values"] = [0.0, 1.0, 3.0]
s["PartOffsets"] = [0, 1, 2]
s["NumberOfParts"] = [1, 1, 1]
s["PointOffsets"] = [0, 4, 9]
s["CellOffsets"] = np.array([[first[name][0][k] for name in LISTS] for k in range(3)])
s["ConnectivityIdOffsets"] = np.array([[first[name][1][k] for name in LISTS] for k in range(3)])
s["CellDataOffsets/c"] = [0, sizes[0], sizes[0] + sizes[1]]
s["PointDataOffsets/p"] = [0, 4, 9]
f.close()

# AMR in a plane, whose boxes end one before they begin on the third axis; only that of x
# and y is read. Values are 100 level + 10 box + cell, points are numbered.
for name, axis in (("flat.hdf", 2), ("flat-xz.hdf", 1)):
    f, g = start(name, "OverlappingAMR")
    g.attrs["Origin"] = (1.0, 2.0, 3.0)
    for l, boxes in enumerate(([(0, 3, 0, 3)], [(2, 5, 2, 5), (6, 7, 2, 3)])):
        level = g.create_group("Level%d" % l)
        level.attrs["Spacing"] = (0.5 / 2**l,) * 3
        level["AMRBox"] = np.array([b[: 2 * axis] + (0, -1) + b[2 * axis :] for b in boxes], dtype="i4")
        cells = [(b[1] - b[0] + 1) * (b[3] - b[2] + 1) for b in boxes]
        level["CellData/v"] = np.array([100 * l + 10 * k + c for k, n in enumerate(cells) for c in range(n)], dtype="f8")
        level["PointData/p"] = np.arange(sum((b[1] - b[0] + 2) * (b[3] - b[2] + 2) for b in boxes), dtype="f8")
    f.close()

# Variables that no mesh can have: the others and the mesh are read.
f, g = start("leftout.hdf", "ImageData")
g.attrs["WholeExtent"] = (0, 2, 0, 2, 0, 1)
g.attrs["Origin"] = (0.0, 0.0, 0.0)
g.attrs["Spacing"] = (1.0, 1.0, 1.0)
g["CellData/e"] = np.arange(4.0).reshape(1, 2, 2)
g["CellData/short"] = np.arange(7.0)
g["CellData/waves"] = np.arange(4).astype("c16").reshape(1, 2, 2)
f.close()
