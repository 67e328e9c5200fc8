# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Hand the mesh and the variables of a running simulation to Isobath at a time step.

    import isobath_step
    isobath_step.hand_over(iteration, time, points, corners, cells={"e": e}, point_data={"velocity": v})

Without ISOBATH_STEPS, the folder that `isobath mesh --insitu FOLDER -- PROGRAM` names,
it does nothing. A step appears in the folder whole or not at all, as a legacy VTK file.
Needs NumPy.
"""
import os

import numpy as np

_TYPES = {8: 12, 6: 13, 5: 14, 4: 10, 3: 5}


def asked():
    """Whether somebody wants steps: computing them may be left out otherwise."""
    return bool(os.environ.get("ISOBATH_STEPS"))


def hand_over(iteration, time, points, corners, cells=None, point_data=None, cell_type=None):
    """Write one step. points: n × 3; corners: cells × points of each, from 0 (8 for
    hexahedra, 6 wedges, 5 pyramids, 4 tetrahedra, 3 triangles; cell_type=9 for
    quadrilaterals). Variables have one number, or three, for each cell or point."""
    folder = os.environ.get("ISOBATH_STEPS")
    if not folder:
        return
    points = np.asarray(points, ">f8").reshape(-1, 3)
    corners = np.asarray(corners, ">i4")
    n, each = corners.shape
    kind = cell_type or _TYPES[each]
    name = os.path.join(folder, "step_%010d.vtk" % iteration)
    made = os.path.join(folder, ".step_%010d.%d" % (iteration, os.getpid()))
    try:
        with open(made, "wb") as f:
            f.write(b"# vtk DataFile Version 3.0\nhanded over by isobath_step.py\nBINARY\nDATASET UNSTRUCTURED_GRID\n")
            f.write(b"FIELD FieldData 2\nTIME 1 1 double\n" + np.asarray([time], ">f8").tobytes())
            f.write(b"\nCYCLE 1 1 int\n" + np.asarray([iteration], ">i4").tobytes())
            f.write(b"\nPOINTS %d double\n" % len(points) + points.tobytes())
            rows = np.concatenate([np.full((n, 1), each, ">i4"), corners], axis=1)
            f.write(b"\nCELLS %d %d\n" % (n, rows.size) + rows.astype(">i4").tobytes())
            f.write(b"\nCELL_TYPES %d\n" % n + np.full(n, kind, ">i4").tobytes() + b"\n")
            _variables(f, b"CELL_DATA", n, cells)
            _variables(f, b"POINT_DATA", len(points), point_data)
        os.replace(made, name)
    except BaseException:
        if os.path.exists(made):
            os.remove(made)
        raise


def _variables(f, section, n, named):
    if not named:
        return
    f.write(section + b" %d\n" % n)
    for name, values in named.items():
        values = np.asarray(values, ">f8")
        label = "".join(c if c > " " else "_" for c in name).encode()
        if values.shape == (n, 3):
            f.write(b"VECTORS " + label + b" double\n")
        elif values.size == n:
            f.write(b"SCALARS " + label + b" double 1\nLOOKUP_TABLE default\n")
        else:
            raise ValueError("%s has %s values; want one or three for each of %d" % (name, values.shape, n))
        f.write(values.tobytes() + b"\n")
