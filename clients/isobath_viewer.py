# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""What every mesh viewer needs of Isobath, without the viewer: which fields belong
on which part of its mesh at which of its time steps, and which samples its picked
cells are. isobath_paraview.py and visit_isobath.py are built on it.
"""
import numpy as np

import isobath

# Cells are named by one number in a viewer, so that a pick after slices,
# thresholds and merges still says which cell of which part it was.
_DOMAIN, _LEVEL = 1 << 32, 1 << 56

# Of the newest update: viewers print what a filter raises and go on, scripts must see it.
last_error = None


def cell_names(cells, domain=0, level=0):
    """Names of the cells of one part, in their order."""
    return np.arange(cells, dtype="i8") + domain * _DOMAIN + level * _LEVEL


def by_part(names):
    """Cells by (domain, level), from their names."""
    names = np.unique(np.asarray(names, "i8"))
    level, domain, cell = names // _LEVEL, names % _LEVEL // _DOMAIN, names % _DOMAIN
    parts = {}
    for key in sorted(set(zip(domain.tolist(), level.tolist()))):
        parts[key] = cell[(domain == key[0]) & (level == key[1])]
    return parts


class Scene:
    """One mesh of the program, as a viewer shows it."""

    def __init__(self, mesh=None, link=None, link_file=None, client="viewer"):
        self.link = link or isobath.connect(link_file, client=client)
        self.mesh = mesh
        self.last = None  # the newest answer, with its counts
        self.link.subscribe()

    def about(self):
        """What the program says of the mesh: name, iterations, times, cells."""
        meshes = self.link.info["meshes"] or []
        for m in meshes:
            if m["name"] == self.mesh or not self.mesh:
                return m
        raise isobath.Error("unknown_mesh", "the program has no mesh %s; it has %s"
                            % (self.mesh, ", ".join(m["name"] for m in meshes) or "none"))

    def iteration(self, cycle=None, step=None, steps=None, time=None):
        """The iteration of the viewer's time step: as the dump says, else by its
        position if both sides have as many dumps, else by its simulated time. A step
        that none of these names is an error: fields of another dump would look right."""
        if cycle is not None:
            return int(cycle)
        known = self.about()
        iterations, times = known["iterations"], known.get("times") or []
        if len(iterations) == 1 and (steps or 1) == 1:
            return iterations[0]
        if steps == len(iterations) and step is not None and 0 <= step < steps:
            return iterations[step]
        if time is not None:
            close = [i for i, t in zip(iterations, times) if t is not None and abs(t - time) <= 1e-9 * max(abs(t), abs(time))]
            if len(close) == 1:
                return close[0]
        raise isobath.Error("step", "which dump is this? The viewer is at time %s, step %s of %s; the program has %d dumps (iterations %d to %d)."
                            " Open the same dumps on both sides." % (time, step, steps, len(iterations), iterations[0], iterations[-1]))

    def fields(self, names, cells, mode="upto", iteration=None, domain=0, level=0):
        """Fields on one part of the mesh, which must have this many cells."""
        self.link.check_mesh(cells, self.mesh, domain, level, iteration=iteration)
        self.last = self.link.field(*names, mode=mode, iteration=iteration, mesh=self.mesh, domain=domain, level=level)
        return self.last

    def changed(self, seconds=0.0):
        """Whether somebody else changed the selection since the last call."""
        try:
            return self.link.poll(seconds) is not None
        except OSError:  # the program restarts: its selection may be another
            self.link.reconnect()
            return True

    def pick(self, names, op="replace"):
        """Selects the samples on cells by their names, for everybody; none clears."""
        parts, answer = by_part(names), None
        if not parts:
            return self.link.pick([], op="clear" if op == "replace" else op, mesh=self.mesh)
        for (domain, level), cells in parts.items():
            answer = self.link.pick(cells, op=op, mesh=self.mesh, domain=domain, level=level)
            op = "add" if op == "replace" else op
        return answer
