# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Reads the tables of a run: Arrow files of one uncompressed batch, mapped and not copied.

This is a reader of what Isobath itself writes (docs/formats.md), so that pyarrow is not needed. Sizes and offsets in a
file are checked against its length before anything is read.
"""
import mmap
import struct

import numpy as np


class Damaged(ValueError):
    """A file that is not what it should be."""


class _Flat:
    """A table of FlatBuffers at a position of a buffer."""

    def __init__(self, buf, at):
        self.buf, self.at = buf, at
        self.fields = at - _read("<i", buf, at)

    def _field(self, n):
        size = _read("<H", self.buf, self.fields)
        if 4 + 2 * n >= size:
            return 0
        offset = _read("<H", self.buf, self.fields + 4 + 2 * n)
        return self.at + offset if offset else 0

    def number(self, n, form, default=0):
        at = self._field(n)
        return _read("<" + form, self.buf, at) if at else default

    def table(self, n):
        at = self._field(n)
        return _Flat(self.buf, at + _read("<I", self.buf, at)) if at else None

    def text(self, n):
        at = self._field(n)
        if not at:
            return ""
        at += _read("<I", self.buf, at)
        size = _read("<I", self.buf, at)
        return bytes(_part(self.buf, at + 4, size)).decode()

    def vector(self, n):
        """Position and length of a vector."""
        at = self._field(n)
        if not at:
            return 0, 0
        at += _read("<I", self.buf, at)
        return at + 4, _read("<I", self.buf, at)

    def tables(self, n):
        at, size = self.vector(n)
        if size * 4 > len(self.buf):
            raise Damaged("a list longer than the file")
        return [_Flat(self.buf, p + _read("<I", self.buf, p)) for p in range(at, at + 4 * size, 4)]

    def structs(self, n, form):
        at, size = self.vector(n)
        width = struct.calcsize(form)
        return list(struct.iter_unpack(form, _part(self.buf, at, size * width))) if size else []


def _read(form, buf, at):
    try:
        return struct.unpack_from(form, buf, at)[0]
    except struct.error:
        raise Damaged(f"the file ends before byte {at}") from None


def _part(buf, at, size):
    if at < 0 or size < 0 or at + size > len(buf):
        raise Damaged(f"{size} bytes at byte {at} of {len(buf)}")
    return buf[at:at + size]


class Column:
    """A column: name, kind, unit, provenance, note, and its values.

    `raw` is the mapped array, `valid` says which values are there (None: all). `values` is what to compute with: a
    masked array where values are missing, text for categories, bool for flags.
    """

    def __init__(self, name, meta, raw, valid, categories=None):
        self.name, self.raw, self.valid, self.categories = name, raw, valid, categories
        self.kind, self.unit = meta.get("isobath.kind", ""), meta.get("isobath.unit", "")
        self.provenance, self.note = meta.get("isobath.provenance", ""), meta.get("isobath.note", "")
        self.base = int(meta.get("isobath.base", "0"))  # added to a time to get the clock of the source

    @property
    def values(self):
        if self.categories is not None:
            names = np.array([*self.categories, ""], object)
            codes = self.raw if self.valid is None else np.where(self.valid, self.raw, len(self.categories))
            out = names[codes]
        elif self.kind == "flag":
            out = self.raw != 0
        else:
            out = self.raw
        return out if self.valid is None else np.ma.array(out, mask=~self.valid)

    def __array__(self, dtype=None):
        return np.asarray(self.values, dtype)

    def __len__(self):
        return len(self.raw)

    def to_pandas(self):
        import pandas

        if self.categories is not None:
            codes = self.raw.astype("int64")
            return pandas.Series(pandas.Categorical.from_codes(codes if self.valid is None else np.where(self.valid, codes, -1), self.categories), name=self.name)
        values = self.values
        if self.valid is not None:  # pandas says missing in floats
            values = np.where(self.valid, self.raw.astype("float64"), np.nan)
        return pandas.Series(values, name=self.name)

    def __repr__(self):
        return f"<column {self.name}: {self.kind}{', ' + self.unit if self.unit else ''}, {self.provenance}, {len(self)} rows>"


class Table(dict):
    """The columns of a table by name, in their order."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        with open(path, "rb") as f:
            mapped = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
        buf = memoryview(mapped)
        size = len(buf)
        if size < 20 or bytes(buf[:6]) != b"ARROW1" or bytes(buf[-6:]) != b"ARROW1":
            raise Damaged(f"{path} is not a whole Arrow file")
        length = _read("<I", buf, size - 10)
        footer_at = size - 10 - length
        if footer_at < 8:
            raise Damaged(f"{path}: a footer of {length} bytes in {size}")
        footer = _Flat(buf, footer_at + _read("<I", buf, footer_at))
        fields = footer.table(1).tables(1)
        dictionaries = {}
        for at, meta, body in _blocks(footer, 2):
            header, data = _message(buf, at, meta, body)
            names = _texts(header.table(1), data)
            dictionaries[header.number(0, "q")] = names
        blocks = _blocks(footer, 3)
        if len(blocks) != 1:
            raise Damaged(f"{path} has {len(blocks)} batches; tables of a run have one")
        batch, data = _message(buf, *blocks[0])
        self._fill(fields, batch, data, dictionaries)

    def _fill(self, fields, batch, data, dictionaries):
        rows, nodes, buffers = batch.number(0, "q"), batch.structs(1, "<qq"), batch.structs(2, "<qq")
        if len(nodes) != len(fields) or len(buffers) != 2 * len(fields) or batch.table(3) is not None:
            raise Damaged(f"{self.path}: not written by Isobath; read it with pyarrow")
        for i, field in enumerate(fields):
            name = field.text(0)
            meta = {kv.text(0): kv.text(1) for kv in field.tables(6)}
            dictionary = field.table(4)
            dtype = "<u4" if dictionary else _dtype(field)
            raw = np.frombuffer(_part(data, *buffers[2 * i + 1])[:rows * np.dtype(dtype).itemsize], dtype)
            if len(raw) != rows:
                raise Damaged(f"{self.path}: column {name} has {len(raw)} of {rows} values")
            valid = None
            if nodes[i][1] > 0:
                bits = np.frombuffer(_part(data, *buffers[2 * i]), "u1")
                valid = np.unpackbits(bits, bitorder="little")[:rows].astype(bool)
            names = dictionaries[dictionary.number(0, "q")] if dictionary else None
            if names is not None and rows and int(raw.max()) >= max(len(names), 1):
                raise Damaged(f"{self.path}: column {name} names a category that is not there")
            self[name] = Column(name, meta, raw, valid, names)

    def to_pandas(self):
        import pandas

        frame = pandas.concat([c.to_pandas() for c in self.values()], axis=1)
        frame.attrs["provenance"] = {c.name: c.provenance for c in self.values()}
        return frame


def _blocks(footer, n):
    return footer.structs(n, "<qi4xq")


def _message(buf, at, meta, body):
    """The header of an encapsulated message, and its body."""
    start = at + (8 if _read("<I", buf, at) == 0xFFFFFFFF else 4)
    message = _Flat(buf, start + _read("<I", buf, start))
    header = message.table(2)
    if header is None:
        raise Damaged("a message without a header")
    return header, _part(buf, at + meta, body)


def _texts(batch, data):
    """The strings of a dictionary."""
    rows, buffers = batch.number(0, "q"), batch.structs(2, "<qq")
    offsets = np.frombuffer(_part(data, *buffers[1]), "<i4")[:rows + 1]
    text = bytes(_part(data, *buffers[2]))
    if rows and (len(offsets) != rows + 1 or np.any(np.diff(offsets) < 0) or offsets[0] < 0 or offsets[-1] > len(text)):
        raise Damaged("names that lie outside their buffer")
    return [text[a:b].decode("utf-8", "replace") for a, b in zip(offsets, offsets[1:])]


def _dtype(field):
    """The type of a field without a dictionary: 2 is Int, 3 FloatingPoint."""
    kind, detail = field.number(2, "B"), field.table(3)
    if kind == 2:
        width = detail.number(0, "i")
        if width in (8, 16, 32, 64):
            return f"<{'i' if detail.number(1, 'B') else 'u'}{width // 8}"
    if kind == 3 and detail.number(0, "h") in (1, 2):
        return {1: "<f4", 2: "<f8"}[detail.number(0, "h")]
    raise Damaged(f"a column of Arrow type {kind}, which Isobath does not write")
