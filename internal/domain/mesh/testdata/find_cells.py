"""Run by the test under pvpython: the cell that VTK finds around each point of a file."""
import sys

from vtkmodules.vtkCommonDataModel import vtkCellLocator
from vtkmodules.vtkIOLegacy import vtkDataSetReader

reader = vtkDataSetReader()
reader.SetFileName(sys.argv[1])
reader.Update()
locator = vtkCellLocator()
locator.SetDataSet(reader.GetOutput())
locator.BuildLocator()
for line in open(sys.argv[2]):
    print(locator.FindCell([float(v) for v in line.split()]))
