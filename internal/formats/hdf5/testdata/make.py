"""Writes HDF5 files that between them use every structure the reader knows,
and beside each NAME.h5 a NAME.json with what is in it. Run by the test with the
Python that has h5py."""
import json
import sys

import h5py
import numpy as np

out = sys.argv[1]
rng = np.random.default_rng(3)


def describe(f):
    all_ = {}

    def visit(name, o):
        entry = {"attrs": {k: plain(v) for k, v in o.attrs.items()}}
        if isinstance(o, h5py.Dataset):
            entry["shape"] = list(o.shape or [])
            entry["dtype"] = o.dtype.str if o.dtype.fields is None else "compound"
            entry["values"] = plain(o[()]) if o.shape is not None else []
        all_[name] = entry

    f.visititems(visit)
    all_["/"] = {"attrs": {k: plain(v) for k, v in f.attrs.items()}}
    return all_


def plain(v):
    a = np.asarray(v)
    if a.dtype.fields:
        return {n: plain(a[n]) for n in a.dtype.names}
    if a.dtype.kind in "SO":
        return [x.decode() if isinstance(x, bytes) else str(x) for x in a.reshape(-1)]
    if a.dtype.kind == "U":
        return [str(x) for x in a.reshape(-1)]
    return [float(x) for x in a.reshape(-1)]


def fill(f):
    f.attrs["title"] = "a file"
    f.attrs["fixed"] = np.array([b"one", b"three"], dtype="S8")
    f.attrs["numbers"] = np.arange(5, dtype="<i2")
    f.attrs["pair"] = np.array((1, 2.5), dtype=[("i", "<i4"), ("x", "<f8")])
    g = f.create_group("types")
    for t in "i1 u1 <i2 >i2 <u2 <i4 >i4 <u4 <i8 >i8 <u8 <f4 >f4 <f8 >f8".split():
        g["t" + t.replace("<", "l").replace(">", "b")] = (rng.normal(size=(3, 4)) * 50 + 60).astype(t)
    g["scalar"] = np.float64(3.25)
    g["text"] = "variable length"
    g["texts"] = np.array(["a", "bcd", ""], dtype=h5py.string_dtype())
    g["fixed"] = np.array([b"ab", b"c"], dtype="S4")
    box = np.dtype({"names": ["lo_i", "lo_j", "hi_i"], "formats": ["<i4", "<i4", "<i4"], "offsets": [0, 4, 12], "itemsize": 20})
    g["boxes"] = np.array([(1, 2, 3), (4, 5, 6)], dtype=box)
    g["vectors"] = np.array([([1, 2, 3], 4)], dtype=[("v", "<f4", (3,)), ("s", "<i4")])
    e = h5py.enum_dtype({"NO": 0, "YES": 1}, basetype="i1")
    g.create_dataset("flags", data=np.array([1, 0, 1]), dtype=e)
    many = f.create_group("many")
    for i in range(400):
        many["member %03d" % i] = np.int32(i)
    for i in range(60):
        many.attrs["attribute %02d" % i] = i * 0.5
    s = f.create_group("storage")
    a = rng.normal(size=(37, 23)).astype("<f8")
    s.create_dataset("contiguous", data=a)
    s.create_dataset("chunked", data=a, chunks=(10, 7))
    s.create_dataset("one chunk", data=a, chunks=(37, 23))
    s.create_dataset("one chunk deflate", data=a, chunks=(37, 23), compression="gzip")
    s.create_dataset("deflate", data=a, chunks=(10, 7), compression="gzip")
    s.create_dataset("shuffle", data=a, chunks=(10, 7), compression="gzip", shuffle=True)
    s.create_dataset("fletcher", data=a, chunks=(10, 7), fletcher32=True)
    s.create_dataset("all", data=a, chunks=(10, 7), compression="gzip", shuffle=True, fletcher32=True)
    s.create_dataset("odd", data=np.arange(77, dtype="i1"), chunks=(11,), fletcher32=True)
    s.create_dataset("three", data=rng.integers(0, 99, size=(7, 6, 5)), chunks=(3, 4, 2), compression="gzip", shuffle=True)
    s.create_dataset("growing", data=a, chunks=(10, 7), maxshape=(None, 23))
    s.create_dataset("growing deflate", data=a, chunks=(4, 7), maxshape=(None, 23), compression="gzip")
    s.create_dataset("growing twice", data=a, chunks=(2, 3), maxshape=(None, None))
    s.create_dataset("growing twice deflate", data=a, chunks=(2, 3), maxshape=(None, None), compression="gzip")
    s.create_dataset("long", data=np.arange(60000, dtype="<i4"), chunks=(7,))
    s.create_dataset("long growing", data=np.arange(60000, dtype="<i4"), chunks=(7,), maxshape=(None,))
    s.create_dataset("long growing deflate", data=np.arange(30000, dtype="<i4"), chunks=(7,), maxshape=(None,), compression="gzip")
    s.create_dataset("never written", shape=(4, 5), dtype="<f4", fillvalue=2.5)
    h = s.create_dataset("holes", shape=(50, 20), chunks=(5, 5), dtype="<i4", fillvalue=-7)
    h[12:18, 3:9] = 5
    s.create_dataset("empty", shape=(0, 3), dtype="<f8")
    d = h5py.h5d.create(s.id, b"compact", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple((3,)), compact())
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1.5, 2.5, 3.5]))
    early = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    early.set_chunk((10,))
    early.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    d = h5py.h5d.create(s.id, b"implicit", h5py.h5t.NATIVE_INT32, h5py.h5s.create_simple((35,)), early)
    d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(35, dtype="i4"))
    f["committed"] = np.dtype("<f4")
    shared = h5py.h5d.create(f.id, b"of committed type", f["committed"].id, h5py.h5s.create_simple((4,)))
    shared.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(4, dtype="f4"))
    f["links/hard"] = f["types/scalar"]
    f["links/soft"] = h5py.SoftLink("/types/scalar")
    f["links/relative"] = h5py.SoftLink("hard")


def compact():
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    p.set_layout(h5py.h5d.COMPACT)
    return p


for name, kw in (("earliest", dict(libver="earliest")), ("v108", dict(libver=("v108", "v108"))),
                 ("latest", dict(libver="latest")), ("userblock", dict(libver="earliest", userblock_size=1024)),
                 ("ordered", dict(libver="latest", track_order=True))):
    with h5py.File("%s/%s.h5" % (out, name), "w", **kw) as f:
        fill(f)
    with h5py.File("%s/%s.h5" % (out, name), "r") as f, open("%s/%s.json" % (out, name), "w") as j:
        json.dump(describe(f), j)

# Two tiny files, kept in the repository as seeds for fuzzing and for tests that
# must run without h5py.
for name in ("earliest", "latest"):
    with h5py.File("%s/%s.small.h5" % (out, name), "w", libver=name) as f:
        f.attrs["title"] = "small"
        f.attrs["pair"] = np.array((1, 2.5), dtype=[("i", "<i4"), ("x", "<f8")])
        g = f.create_group("g")
        g["plain"] = np.arange(6, dtype="<f4").reshape(2, 3)
        g["texts"] = np.array(["a", "bcd"], dtype=h5py.string_dtype())
        g.create_dataset("packed", data=np.arange(40, dtype="<i4").reshape(8, 5), chunks=(3, 2), compression="gzip",
                         shuffle=True, fletcher32=True)
        g.create_dataset("growing", data=np.arange(30, dtype="<i4"), chunks=(4,), maxshape=(None,))
        g.create_dataset("twice", data=np.arange(12, dtype="<i4").reshape(3, 4), chunks=(2, 2), maxshape=(None, None))
        for i in range(12):
            g["m%d" % i] = np.int8(i)
