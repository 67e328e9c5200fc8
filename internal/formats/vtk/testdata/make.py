"""Writes one small file for every form VTK's own writers have, into the folder
given: every data set type, encoding, compressor, byte order and header size,
every cell type, pieces, parallel files and composite data."""
import os
import sys

import numpy as np
from vtkmodules.util.numpy_support import numpy_to_vtk
from vtkmodules.vtkCommonCore import vtkBitArray, vtkIdList, vtkPoints, vtkStringArray
from vtkmodules.vtkCommonDataModel import (
    vtkCellArray, vtkImageData, vtkMultiBlockDataSet, vtkPolyData, vtkRectilinearGrid, vtkStructuredGrid,
    vtkPartitionedDataSetCollection, vtkPartitionedDataSet, vtkUnstructuredGrid)
from vtkmodules.vtkIOLegacy import (
    vtkPolyDataWriter, vtkRectilinearGridWriter, vtkStructuredGridWriter, vtkStructuredPointsWriter,
    vtkUnstructuredGridWriter)
from vtkmodules.vtkIOXML import (
    vtkXMLImageDataWriter, vtkXMLMultiBlockDataWriter, vtkXMLPolyDataWriter, vtkXMLRectilinearGridWriter,
    vtkXMLStructuredGridWriter, vtkXMLUnstructuredGridWriter)
from vtkmodules.vtkIOParallelXML import (
    vtkXMLPImageDataWriter, vtkXMLPPolyDataWriter, vtkXMLPRectilinearGridWriter, vtkXMLPStructuredGridWriter,
    vtkXMLPUnstructuredGridWriter, vtkXMLPartitionedDataSetCollectionWriter)

out = sys.argv[1]
rng = np.random.default_rng(7)
DTYPES = "i1 u1 i2 u2 i4 u4 i8 u8 f4 f8".split()


def array(name, n, dtype, comps=1):
    if dtype[0] == "f":
        v = rng.normal(size=(n, comps)) * 10.0 ** rng.integers(-20, 20, size=(n, comps))
    else:
        info = np.iinfo(dtype)
        v = rng.integers(info.min, info.max, size=(n, comps), dtype=dtype)
    a = numpy_to_vtk(v.astype(dtype), deep=1)
    a.SetName(name)
    return a


def dress(g, strings=True, bits=True):
    n, m = g.GetNumberOfPoints(), g.GetNumberOfCells()
    for d in DTYPES:
        g.GetPointData().AddArray(array("point " + d, n, d))
        g.GetCellData().AddArray(array("cell%" + d, m, d))
    g.GetPointData().SetVectors(array("velocity", n, "f4", 3))
    g.GetCellData().SetTensors(array("stress", m, "f8", 9))
    g.GetCellData().SetScalars(array("colour", m, "u1", 4))
    cycle = numpy_to_vtk(np.array([42], dtype="i4"), deep=1)
    cycle.SetName("CYCLE")
    g.GetFieldData().AddArray(cycle)
    if strings:
        s = vtkStringArray()
        s.SetName("names")
        for text in ("alpha", "", "two words", "x" * 100):
            s.InsertNextValue(text)
        g.GetFieldData().AddArray(s)
    if not bits:
        return g
    b = vtkBitArray()
    b.SetName("mask")
    for i in range(m):
        b.InsertNextValue(i % 3 == 0)
    g.GetCellData().AddArray(b)
    return g


def points(n, dtype="f4"):
    p = vtkPoints()
    p.SetData(numpy_to_vtk(rng.uniform(size=(n, 3)).astype(dtype), deep=1))
    return p


def ids(seq):
    l = vtkIdList()
    for i in seq:
        l.InsertNextId(int(i))
    return l


# type: number of points
SHAPES = {1: 1, 2: 3, 3: 2, 4: 4, 5: 3, 6: 5, 7: 6, 8: 4, 9: 4, 10: 4, 11: 8, 12: 8, 13: 6, 14: 5, 15: 10, 16: 12,
          21: 3, 22: 6, 23: 8, 24: 10, 25: 20, 26: 15, 27: 13, 28: 9, 29: 27, 30: 6, 31: 12, 32: 18, 33: 24, 34: 7,
          35: 4, 36: 8, 37: 19, 41: 8, 68: 4, 69: 10, 70: 9, 71: 10, 72: 27, 73: 18, 75: 4, 76: 10, 77: 9, 78: 10,
          79: 27, 80: 18}


def unstructured(shapes=SHAPES, polyhedron=True, dtype="f8"):
    g = vtkUnstructuredGrid()
    g.SetPoints(points(64, dtype))
    for t, n in shapes.items():
        g.InsertNextCell(t, ids(rng.permutation(64)[:n]))
    if polyhedron:
        faces = [6, 4, 0, 3, 2, 1, 4, 4, 5, 6, 7, 4, 0, 1, 5, 4, 4, 1, 2, 6, 5, 4, 2, 3, 7, 6, 4, 3, 0, 4, 7]
        g.InsertNextCell(42, ids(faces))
        g.InsertNextCell(12, ids(range(8)))
        g.InsertNextCell(42, ids([4, 3, 8, 9, 10, 3, 8, 9, 11, 3, 9, 10, 11, 3, 10, 8, 11]))
    return g


def poly(strips=True):
    g = vtkPolyData()
    g.SetPoints(points(40))
    lists = []
    for sizes in ([1, 1, 3], [2, 5, 2], [3, 4, 6, 3], [4, 6]):
        c = vtkCellArray()
        for n in sizes:
            c.InsertNextCell(ids(rng.permutation(40)[:n]))
        lists.append(c)
    g.SetVerts(lists[0])
    g.SetLines(lists[1])
    g.SetPolys(lists[2])
    if strips:
        g.SetStrips(lists[3])
    return g


def image(extent=(0, 4, 0, 3, 0, 2)):
    g = vtkImageData()
    g.SetExtent(*extent)
    g.SetOrigin(1.5, -2, 0.25)
    g.SetSpacing(0.1, 0.2, 0.3)
    return g


def rectilinear():
    g = vtkRectilinearGrid()
    g.SetExtent(2, 6, 0, 3, 0, 2)
    for n, f, t in ((5, g.SetXCoordinates, "f4"), (4, g.SetYCoordinates, "f8"), (3, g.SetZCoordinates, "f8")):
        f(numpy_to_vtk(np.sort(rng.uniform(size=n)).astype(t), deep=1))
    return g


def structured(dims=(5, 4, 3)):
    g = vtkStructuredGrid()
    g.SetDimensions(*dims)
    g.SetPoints(points(dims[0] * dims[1] * dims[2]))
    return g


SETS = {
    "vtu": (unstructured, vtkXMLUnstructuredGridWriter, vtkUnstructuredGridWriter),
    "vtp": (poly, vtkXMLPolyDataWriter, vtkPolyDataWriter),
    "vti": (image, vtkXMLImageDataWriter, vtkStructuredPointsWriter),
    "vtr": (rectilinear, vtkXMLRectilinearGridWriter, vtkRectilinearGridWriter),
    "vts": (structured, vtkXMLStructuredGridWriter, vtkStructuredGridWriter),
}


def path(name):
    return os.path.join(out, name)


def xml(writer, g, name, mode="ascii", compressor=0, header=64, order=1, encode=0, pieces=1):
    w = writer()
    w.SetFileName(path(name))
    w.SetInputData(g)
    w.SetDataMode({"ascii": 0, "binary": 1, "appended": 2}[mode])
    w.SetCompressorType(compressor)
    w.SetHeaderType(header)
    w.SetByteOrder(order)
    w.SetEncodeAppendedData(encode)
    w.SetBlockSize(1024)
    if pieces > 1:
        w.SetNumberOfPieces(pieces)
    assert w.Write(), name


for ext, (make, xml_writer, legacy_writer) in SETS.items():
    for mode in ("ascii", "binary", "appended"):
        for compressor, label in ((0, "plain"), (1, "zlib"), (2, "lz4"), (3, "lzma")):
            for encode in (0, 1) if mode == "appended" else (0,):
                xml(xml_writer, dress(make()), "%s-%s-%s-%d.%s" % (ext, mode, label, encode, ext), mode, compressor,
                    32 if label == "lz4" else 64, 0 if label == "lzma" else 1, encode)
    for binary in (0, 1):
        for version in (42, 51):
            # Before 5.1 the legacy form cannot hold several 64-bit things VTK
            # itself writes and reads back with loss; both forms are compared
            # with what VTK reads, not with what was written.
            w = legacy_writer()
            w.SetFileName(path("%s-legacy-%d-%d.vtk" % (ext, binary, version)))
            w.SetFileVersion(version)
            w.SetFileType(1 + binary)
            w.SetInputData(dress(make(), strings=binary == 0))
            assert w.Write()

for name, extent in (("flat", (0, 5, 0, 4, 0, 0)), ("yz", (3, 3, 0, 4, -2, 2)), ("line", (0, 5, 0, 0, 0, 0)),
                     ("dot", (0, 0, 0, 0, 0, 0))):
    xml(vtkXMLImageDataWriter, dress(image(extent)), "image-%s.vti" % name)
xml(vtkXMLStructuredGridWriter, dress(structured((6, 5, 1))), "structured-flat.vts")
xml(vtkXMLUnstructuredGridWriter, vtkUnstructuredGrid(), "empty.vtu")
xml(vtkXMLPolyDataWriter, vtkPolyData(), "empty.vtp")

# VTK 9.2's own parallel readers mix up bit arrays, and the cell data of strips
# with that of polygons: those two are left out here.
few = {12: 8, 10: 4, 5: 3, 25: 20}
for ext, g, writer in (("pvtu", unstructured(few, False), vtkXMLPUnstructuredGridWriter), ("pvtp", poly(False), vtkXMLPPolyDataWriter),
                       ("pvti", image(), vtkXMLPImageDataWriter), ("pvtr", rectilinear(), vtkXMLPRectilinearGridWriter),
                       ("pvts", structured(), vtkXMLPStructuredGridWriter)):
    w = writer()
    w.SetFileName(path("parallel." + ext))
    w.SetInputData(dress(g, bits=False))
    w.SetNumberOfPieces(3)
    w.SetStartPiece(0)
    w.SetEndPiece(2)
    assert w.Write()

mb = vtkMultiBlockDataSet()
inner = vtkMultiBlockDataSet()
inner.SetBlock(0, dress(image()))
inner.SetBlock(2, dress(structured()))
mb.SetBlock(0, dress(unstructured(few)))
mb.SetBlock(1, inner)
mb.SetBlock(3, dress(poly()))
w = vtkXMLMultiBlockDataWriter()
w.SetFileName(path("blocks.vtm"))
w.SetInputData(mb)
assert w.Write()

c = vtkPartitionedDataSetCollection()
for k in range(2):
    p = vtkPartitionedDataSet()
    p.SetPartition(0, dress(unstructured(few)))
    p.SetPartition(1, dress(unstructured(few)))
    c.SetPartitionedDataSet(k, p)
w = vtkXMLPartitionedDataSetCollectionWriter()
w.SetFileName(path("parts.vtpc"))
w.SetInputData(c)
assert w.Write()

from vtkmodules.vtkCommonDataModel import vtkAMRBox, vtkOverlappingAMR, vtkStructuredData, vtkUniformGrid  # noqa: E402
from vtkmodules.vtkIOXML import vtkXMLUniformGridAMRWriter  # noqa: E402

# Boxes of two levels; of one level that overlap each other, ratios of 4, boxes that begin
# inside a coarse cell, three levels, a level with a gap, and flat ones.
AMR = {
    "amr3": (2, [[(0, 0, 0, 3, 3, 3)], [(2, 2, 2, 3, 5, 5), (4, 2, 2, 5, 5, 5)]]),
    "amr2": (2, [[(0, 0, 0, 3, 3, 3)], [(2, 2, 2, 3, 5, 5), (4, 2, 2, 5, 5, 5)]]),
    "amr-overlapping": (2, [[(0, 0, 0, 3, 3, 3)], [(2, 2, 2, 5, 5, 5), (4, 4, 4, 7, 7, 7)]]),
    "amr-overlapping-coarse": (2, [[(0, 0, 0, 3, 3, 3), (2, 0, 0, 5, 3, 3)], [(2, 2, 2, 7, 5, 5)]]),
    "amr-four": (4, [[(0, 0, 0, 3, 3, 3)], [(4, 4, 4, 11, 11, 11)]]),
    "amr-inside": (2, [[(0, 0, 0, 3, 3, 3)], [(1, 1, 1, 4, 4, 4)]]),
    "amr-three": (2, [[(0, 0, 0, 3, 3, 3), (4, 0, 0, 7, 3, 3)], [(2, 2, 2, 5, 5, 5)], [(6, 6, 6, 9, 9, 9)]]),
    "amr-negative": (2, [[(-4, -4, -4, 3, 3, 3)], [(-3, -2, -2, 2, 1, 1)]]),
}
for name, (ratio, levels) in AMR.items():
    flat = name == "amr2"
    amr = vtkOverlappingAMR()
    amr.Initialize(len(levels), [len(boxes) for boxes in levels])
    origin = [1.0, 2.0, 0.0]
    amr.SetOrigin(origin)
    amr.SetGridDescription(5 if flat else 8)  # VTK_XY_PLANE, VTK_XYZ_GRID
    for level, boxes in enumerate(levels):
        h = 0.5 / ratio**level
        amr.SetSpacing(level, [h, h, h])
        amr.SetRefinementRatio(level, ratio)
        for i, b in enumerate(boxes):
            lo, hi = list(b[:3]), list(b[3:])
            if flat:
                lo[2], hi[2] = 0, -1
            g = vtkUniformGrid()
            g.SetOrigin(*(o + k * h for o, k in zip(origin, lo)))
            g.SetSpacing(h, h, h)
            g.SetDimensions(*(b - a + 2 for a, b in zip(lo, hi)))
            g.GetCellData().AddArray(array("rho", g.GetNumberOfCells(), "f8"))
            amr.SetAMRBox(level, i, vtkAMRBox(lo, hi))
            amr.SetDataSet(level, i, g)
    w = vtkXMLUniformGridAMRWriter()
    w.SetFileName(path(name + ".vthb"))
    w.SetInputData(amr)
    assert w.Write()

# Images that are turned, axes that fall, cells and points that are hidden, points alone,
# blocks in blocks of blocks with names that XML must write otherwise.
turned = image()
turned.SetDirectionMatrix(0, -1, 0, 1, 0, 0, 0, 0, 1)
xml(vtkXMLImageDataWriter, dress(turned), "image-turned.vti")
falling = rectilinear()
falling.SetXCoordinates(numpy_to_vtk(np.array([5.0, 4.0, 2.0, 1.0, 0.0]), deep=1))
hidden = structured()
hidden.BlankCell(4)
hidden.BlankPoint(0)
masked = vtkUniformGrid()
masked.SetDimensions(5, 4, 3)
masked.GetCellData().AddArray(array("rho", masked.GetNumberOfCells(), "f8"))
masked.BlankCell(3)
masked.BlankPoint(masked.GetNumberOfPoints() - 1)
xml(vtkXMLImageDataWriter, masked, "masked.vti")
for g, name, xml_writer, legacy_writer in (
        (falling, "falling", vtkXMLRectilinearGridWriter, vtkRectilinearGridWriter),
        (hidden, "hidden", vtkXMLStructuredGridWriter, vtkStructuredGridWriter)):
    xml(xml_writer, g, name + (".vtr" if name == "falling" else ".vts"))
    w = legacy_writer()
    w.SetFileName(path(name + ".vtk"))
    w.SetInputData(g)
    assert w.Write()
alone = vtkPolyData()
alone.SetPoints(points(7))
alone.GetPointData().AddArray(array("v", 7, "f4", 3))
xml(vtkXMLPolyDataWriter, alone, "points-alone.vtp")
deep, deeper = vtkMultiBlockDataSet(), vtkMultiBlockDataSet()
deeper.SetBlock(0, dress(turned))
deeper.SetBlock(1, None)
deep.SetBlock(0, deeper)
deep.SetBlock(1, falling)
outer = vtkMultiBlockDataSet()
outer.SetBlock(0, deep)
outer.SetBlock(1, hidden)
outer.GetMetaData(0).Set(vtkMultiBlockDataSet.NAME(), 'odd & <name> "quoted"')
w = vtkXMLMultiBlockDataWriter()
w.SetFileName(path("deep.vtm"))
w.SetInputData(outer)
assert w.Write()
