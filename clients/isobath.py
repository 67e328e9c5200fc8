# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Client of a running Isobath: select samples, read fields as NumPy arrays.

    import isobath
    link = isobath.connect()                  # reads the token file of `isobath mesh --link`
    link.select(cpu=(0, 10), latency=(100, None))
    f = link.field("latency_avg", "samples", mode="upto", iteration=180)
    print(f.counts, f["latency_avg"].shape)
    print(link.report("line"))
"""
import json, os, select as _select, socket, time

import numpy as np

PROTO, TOKEN_FILE = 1, os.path.expanduser("~/.cache/isobath/link")


class Error(Exception):
    """An answer of type error; code is one of the protocol's."""
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Fields(dict):
    """Arrays by name, with the header of the answer: counts, rev, mode, iteration, cells."""
    def __init__(self, header, arrays):
        super().__init__(arrays)
        self.header, self.counts, self.rev = header, header["counts"], header["rev"]


def connect(token_file=None, address=None, token=None, client="python"):
    """Connects to the address and token in a token file, ISOBATH_LINK or the arguments."""
    return Link(token_file or os.environ.get("ISOBATH_LINK") or TOKEN_FILE, address, token, client)


class Link:
    def __init__(self, token_file, address, token, client):
        self._file, self._given, self._client = token_file, (address, token), client
        self._sock, self._id, self._subscribed, self.rev = None, 0, False, 0
        self._changed = None  # newest change not yet taken
        self._open()

    def _open(self):
        address, token = self._given
        if not (address and token):
            address, token = open(self._file).read().split()[:2]
        host, port = address.rsplit(":", 1)
        self._sock = socket.create_connection((host.strip("[]"), int(port)), timeout=30)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buf = bytearray()
        self.info = self._call("hello", proto=PROTO, client=self._client, token=token)[0]
        self.client_id, self.rev = self.info["client_id"], self.info["rev"]
        if self._subscribed:
            self._call("subscribe", what=["changed"])

    def reconnect(self, seconds=30):
        """Connects again, trying for a while: the program may be restarting."""
        self.close()
        end = time.time() + seconds
        while True:
            try:
                return self._open()
            except (OSError, Error, ValueError):
                if time.time() > end:
                    raise
            time.sleep(0.2)

    def close(self):
        self._sock.close()

    def call(self, kind, arrays=(), **fields):
        """Sends a request and returns (header, arrays); reconnects once if the program went away."""
        try:
            return self._call(kind, arrays, **fields)
        except OSError:
            self.reconnect()
            return self._call(kind, arrays, **fields)

    def _call(self, kind, arrays=(), **fields):
        self._id += 1
        head = {"type": kind, "id": self._id, **{k: v for k, v in fields.items() if v is not None}}
        if arrays:
            head["arrays"] = [{"name": n, "dtype": a.dtype.str, "shape": list(a.shape), "bytes": a.nbytes} for n, a in arrays]
            head["bytes"] = sum(a.nbytes for _, a in arrays)
        self._sock.sendall(json.dumps(head).encode() + b"\n" + b"".join(a.tobytes() for _, a in arrays))
        while True:
            answer, data = self._read()
            if answer.get("re") == self._id or answer["type"] == "error":
                break
        if answer["type"] == "error":
            raise Error(answer["code"], answer["message"])
        self.rev = max(self.rev, answer.get("rev", 0)) if kind != "hello" else answer["rev"]
        return answer, data

    def _fill(self):
        part = self._sock.recv(1 << 20)
        if not part:
            raise ConnectionError("the program closed the connection")
        self._buf += part

    def _take(self, n):
        while len(self._buf) < n:
            self._fill()
        out = bytes(self._buf[:n])
        del self._buf[:n]
        return out

    def _read(self):
        while b"\n" not in self._buf:
            self._fill()
        head = json.loads(self._take(self._buf.index(b"\n") + 1))
        data = {a["name"]: np.frombuffer(self._take(a["bytes"]), a["dtype"]).reshape(a["shape"]) for a in head.get("arrays", [])}
        if head["type"] == "changed" and head["origin"] != self.client_id and head["rev"] > self.rev:
            self._changed, self.rev = head, head["rev"]
        return head, data

    def select(self, where=None, replace=False, **ranges):
        """Ranges by column, (low, high), None = open; None alone removes. Others stay unless replace."""
        ranges = None if where is not None and not ranges else ranges
        return self.call("select", op="replace" if replace else "merge", where=where, ranges=ranges)[0]

    def pick(self, cells, op="replace", mesh=None, domain=0, level=0):
        """Selects the samples on cells: op replace, add, remove or clear."""
        cells = np.asarray(cells, "<u4").reshape(-1)
        return self.call("pick", [("cells", cells)] if len(cells) else [], op=op, mesh=mesh, domain=domain, level=level)[0]

    def field(self, *names, mode="all", iteration=None, mesh=None, domain=0, level=0, empty="nan", variant=None, since=None):
        """Fields of the selection on one part of a mesh, as a dict of arrays."""
        return Fields(*self.call("get_field", fields=list(names), mode=mode, iteration=iteration, mesh=mesh, domain=domain,
                                 level=level, empty=empty, variant=variant, **{"from": since}))

    def check_mesh(self, cells, mesh=None, domain=0, level=0, boxes=None, iteration=None):
        """Raises Error mesh_mismatch when the viewer's mesh is not the program's."""
        self.call("check_mesh", cells=int(cells), mesh=mesh, domain=domain, level=level, boxes=boxes, iteration=iteration)

    def report(self, by="line", top=20):
        """The selected samples by a column, largest latency first."""
        return self.call("report", by=by, top=top)[0]["groups"]

    def subscribe(self):
        self.call("subscribe", what=["changed"])
        self._subscribed = True

    def poll(self, seconds=0.0):
        """Returns the newest change made by someone else since the last call, or None."""
        while self._changed is None and (self._buf or _select.select([self._sock], [], [], seconds)[0]):
            self._read()
            seconds = 0
        change, self._changed = self._changed, None
        return change
