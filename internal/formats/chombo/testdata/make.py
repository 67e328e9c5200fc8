"""Makes small.hdf5 and checkpoint.hdf5. The first is a Chombo plot file in 3D with two levels and one ghost
layer in the stored data. Value = component * 1000 + i + 10 j + 100 k, also in
the ghosts, where it is negative. The second is a checkpoint with a dataset a variable,
one of two components, and one on faces."""
import h5py
import numpy as np

BOX = np.dtype([(n, "<i4") for n in ("lo_i", "lo_j", "lo_k", "hi_i", "hi_j", "hi_k")])
VEC = np.dtype([(n, "<i4") for n in ("intvecti", "intvectj", "intvectk")])
with h5py.File("small.hdf5", "w", libver="earliest") as f:
    f.create_group("Chombo_global").attrs["SpaceDim"] = np.int32(3)
    for k, v in (("num_levels", 2), ("max_level", 1), ("num_components", 2), ("iteration", 8)):
        f.attrs[k] = np.int32(v)
    f.attrs["time"] = 0.25
    f.attrs["component_0"] = np.bytes_("rho")
    f.attrs["component_1"] = np.bytes_("p")
    for l, boxes in enumerate(([(0, 0, 0, 3, 3, 3)], [(2, 2, 2, 3, 5, 5), (4, 2, 2, 5, 5, 5)])):
        g = f.create_group("level_%d" % l)
        g.attrs["dx"] = 1.0 / 2**l
        g.attrs["ref_ratio"] = np.int32(2)
        g.attrs["prob_domain"] = np.array((0, 0, 0, 4 * 2**l - 1, 4 * 2**l - 1, 4 * 2**l - 1), dtype=BOX)
        g["boxes"] = np.array(boxes, dtype=BOX)
        data, offsets = [], [0]
        for b in boxes:
            for c in range(2):
                k, j, i = np.mgrid[b[2] - 1:b[5] + 2, b[1] - 1:b[4] + 2, b[0] - 1:b[3] + 2]
                v = (c * 1000 + i + 10 * j + 100 * k).astype("f8")
                inside = (i >= b[0]) & (i <= b[3]) & (j >= b[1]) & (j <= b[4]) & (k >= b[2]) & (k <= b[5])
                data.append(np.where(inside, v, -1).reshape(-1))
            offsets.append(sum(len(d) for d in data))
        g["data:datatype=0"] = np.concatenate(data)
        g["data:offsets=0"] = np.array(offsets, dtype="i8")
        a = g.create_group("data_attributes")
        a.attrs["comps"] = np.int32(2)
        a.attrs["outputGhost"] = np.array((1, 1, 1), dtype=VEC)

with h5py.File("checkpoint.hdf5", "w", libver="earliest") as f:
    f.create_group("Chombo_global").attrs["SpaceDim"] = np.int32(2)
    for k, v in (("num_levels", 2), ("max_level", 1), ("iteration", 40)):
        f.attrs[k] = np.int32(v)
    f.attrs["time"] = 1.5
    box = np.dtype([(n, "<i4") for n in ("lo_i", "lo_j", "hi_i", "hi_j")])
    vec = np.dtype([(n, "<i4") for n in ("intvecti", "intvectj")])
    for l, boxes in enumerate(([(0, 0, 3, 3)], [(2, 2, 3, 5), (4, 2, 5, 5)])):
        g = f.create_group("level_%d" % l)
        g.attrs["dx"] = 1.0 / 2**l
        g.attrs["ref_ratio"] = np.int32(2)
        g.attrs["prob_domain"] = np.array((0, 0, 4 * 2**l - 1, 4 * 2**l - 1), dtype=box)
        g["boxes"] = np.array(boxes, dtype=box)
        for name, comps, ghost, kind in (("density", 1, 0, "FArrayBox"), ("momentum", 2, 1, "FArrayBox"), ("velocity", 1, 0, "FluxBox")):
            data, offsets = [], [0]
            for b in boxes:
                for c in range(comps):
                    j, i = np.mgrid[b[1] - ghost:b[3] + 1 + ghost, b[0] - ghost:b[2] + 1 + ghost]
                    v = (c * 1000 + i + 10 * j).astype("f8") + (5000 if name == "density" else 0)
                    inside = (i >= b[0]) & (i <= b[2]) & (j >= b[1]) & (j <= b[3])
                    data.append(np.where(inside, v, -1).reshape(-1))
                offsets.append(sum(len(d) for d in data))
            g[name + ":datatype=0"] = np.concatenate(data)
            g[name + ":offsets=0"] = np.array(offsets, dtype="i8")
            a = g.create_group(name + "_attributes")
            a.attrs["comps"] = np.int32(comps)
            a.attrs["objectType"] = np.bytes_(kind)
            a.attrs["outputGhost"] = np.array((ghost, ghost), dtype=vec)
