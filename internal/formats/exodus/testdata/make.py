"""Writes Exodus files into the folder given: with netCDF directly, in all of
its forms, blocks of several shapes, three time steps, and a truth table."""
import sys

import netCDF4
import numpy as np

rng = np.random.default_rng(5)
SHAPES = [("HEX8", 8), ("TETRA", 4), ("HEX20", 20), ("HEX27", 27), ("WEDGE15", 15), ("SHELL4", 4), ("TRI3", 3), ("BEAM", 2),
          ("PYRAMID5", 5), ("TETRA10", 10), ("QUAD9", 9)]


def chars(v, texts):
    for i, t in enumerate(texts):
        v[i, :len(t)] = np.array(list(t), dtype="S1")


FORMS = [("NETCDF3_CLASSIC", ""), ("NETCDF3_64BIT_OFFSET", ""), ("NETCDF3_64BIT_DATA", ""), ("NETCDF4_CLASSIC", ""),
         # One array of all coordinates and one of all nodal variables, as files
         # of older libraries have it.
         ("NETCDF3_CLASSIC", "-joined"), ("NETCDF4_CLASSIC", "-joined"),
         # Blocks without elements, as one process of many has them: the first, one
         # between others and the last.
         ("NETCDF3_CLASSIC", "-empty"), ("NETCDF4_CLASSIC", "-empty")]
for form, variant in FORMS:
    joined = variant == "-joined"
    empty = [1, 4, len(SHAPES)] if variant == "-empty" else []
    f = netCDF4.Dataset("%s/%s%s.exo" % (sys.argv[1], form, variant), "w", format=form)
    f.api_version = np.float32(5.1)
    f.version = np.float32(5.1)
    f.floating_point_word_size = np.int32(8)
    f.file_size = np.int32(0 if joined else 1)
    f.title = "made for a test"
    n = 60
    elems = 3
    for name, size in (("len_string", 33), ("len_line", 81), ("four", 4), ("len_name", 33), ("time_step", None), ("num_dim", 3), ("num_nodes", n),
                       ("num_elem", elems * (len(SHAPES) - len(empty))), ("num_el_blk", len(SHAPES)), ("num_elem_var", 10), ("num_nod_var", 6)):
        f.createDimension(name, size)
    f.createVariable("time_whole", "f8", ("time_step",))[:] = [0.0, 0.5, 1.25]
    f.createVariable("eb_status", "i4", ("num_el_blk",))[:] = [0 if b + 1 in empty else 1 for b in range(len(SHAPES))]
    p = f.createVariable("eb_prop1", "i4", ("num_el_blk",))
    p.setncattr("name", "ID")
    p[:] = np.arange(1, len(SHAPES) + 1)
    if joined:
        f.createVariable("coord", "f8", ("num_dim", "num_nodes"))[:] = np.round(rng.normal(size=(3, n)) * 64) / 64
    for a in "" if joined else "xyz":
        f.createVariable("coord" + a, "f8", ("num_nodes",))[:] = np.round(rng.normal(size=n) * 64) / 64
    chars(f.createVariable("eb_names", "S1", ("num_el_blk", "len_name")), ["part %d" % i for i in range(len(SHAPES))])
    chars(f.createVariable("coor_names", "S1", ("num_dim", "len_name")), ["x", "y", "z"])
    chars(f.createVariable("name_elem_var", "S1", ("num_elem_var", "len_name")), ["energy", "some", "flowX", "flowY", "sxx", "syy", "szz", "sxy", "sxz", "syz"])
    chars(f.createVariable("name_nod_var", "S1", ("num_nod_var", "len_name")), ["temperature", "DISPLX", "DISPLY", "DISPLZ", "v_x", "v_y"])
    table = np.ones((len(SHAPES), 10), dtype="i4")
    table[::2, 1] = 0
    f.createVariable("elem_var_tab", "i4", ("num_el_blk", "num_elem_var"))[:] = table
    if joined:
        f.createVariable("vals_nod_var", "f8", ("time_step", "num_nod_var", "num_nodes"))[:] = np.round(rng.normal(size=(3, 6, n)) * 8) / 8
    for v in range(1, 0 if joined else 7):
        # Displacements are eighths, so that adding them is exact in any precision.
        f.createVariable("vals_nod_var%d" % v, "f8", ("time_step", "num_nodes"))[:] = np.round(rng.normal(size=(3, n)) * 8) / 8
    for b, (kind, k) in enumerate(SHAPES, 1):
        if b in empty:
            continue
        f.createDimension("num_el_in_blk%d" % b, elems)
        f.createDimension("num_nod_per_el%d" % b, k)
        c = f.createVariable("connect%d" % b, "i4", ("num_el_in_blk%d" % b, "num_nod_per_el%d" % b))
        c.elem_type = kind
        c[:] = np.array([rng.permutation(n)[:k] + 1 for _ in range(elems)])
        for v in range(1, 11):
            if table[b - 1, v - 1]:
                f.createVariable("vals_elem_var%deb%d" % (v, b), "f8", ("time_step", "num_el_in_blk%d" % b))[:] = rng.normal(size=(3, elems))
    f.close()
