# SPDX-License-Identifier: Apache-2.0
# Copyright the Isobath authors
"""Shows Isobath's fields on the user's own mesh in ParaView, in one command.

In the program:      ISOBATH_DUMPS='dumps/*.vtk' paraview --script=paraview_isobath.py
                     or open the dumps, then Tools, Python Shell, Run Script
Without a window:    pvpython paraview_isobath.py DUMP... [--mode upto] [--field latency_avg] [--png out.png]
From another script: from paraview_isobath import Viewer

It loads the plugin isobath_paraview.py, which is beside it, and makes its filter.
The mesh files stay as they are. The address and token come from the token file
of `isobath mesh --link` (or ISOBATH_LINK=FILE).
"""
import glob
import os
import sys


def folder():
    """Where this file is. ParaView's window program runs a script by its text and does
    not say; the command line has it."""
    if "__file__" in globals():
        return os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("ISOBATH_CLIENTS", ""), os.getcwd(), os.path.join(os.getcwd(), "clients")]
    try:
        with open("/proc/self/cmdline") as f:
            words = f.read().split("\0")
    except OSError:
        words = sys.argv
    for i, word in enumerate(words):
        if word.startswith("--script="):
            places.insert(0, os.path.dirname(os.path.abspath(word[len("--script="):])))
        elif word == "--script" and i + 1 < len(words):
            places.insert(0, os.path.dirname(os.path.abspath(words[i + 1])))
    for place in places:
        if place and os.path.exists(os.path.join(place, "isobath_paraview.py")):
            return place
    raise ImportError("isobath_paraview.py is not found: set ISOBATH_CLIENTS to the folder of paraview_isobath.py")


HERE = folder()
if HERE not in sys.path:
    sys.path.insert(0, HERE)
import isobath  # noqa: E402
import isobath_paraview as plugin  # noqa: E402
import isobath_viewer  # noqa: E402
from paraview import simple as pv  # noqa: E402


class Viewer:
    """A source with Isobath's fields on it."""

    def __init__(self, source, fields=("latency_avg", "samples"), mode="upto", mesh=None, link_file=None):
        pv.LoadPlugin(os.path.join(HERE, "isobath_paraview.py"), remote=False)
        self.fields = list(fields)
        self.filter = pv.Isobath(registrationName="Isobath", Input=source)
        self.filter.Fields, self.filter.Mesh, self.filter.LinkFile = self.fields, mesh or "", link_file or ""
        # The filter has a connection where it runs; this one hears of changes here.
        self.link = isobath.connect(link_file, client="paraview-script")
        self.link.subscribe()
        self.time = pv.GetTimeKeeper().Time
        self.refresh(mode)

    def refresh(self, mode=None, time=None):
        """Asks for the fields of the current selection, at a time of the pipeline."""
        if mode:
            self.filter.Mode = plugin.MODES.index(mode)
        self.filter.Revision = self.link.rev
        isobath_viewer.last_error = None
        self.time = self.time if time is None else time
        self.filter.UpdatePipeline(self.time)
        if isobath_viewer.last_error:
            raise isobath_viewer.last_error

    def show(self, view=None):
        """Colours by the first field; cells without samples are grey."""
        view = view or pv.GetActiveViewOrCreate("RenderView")
        rep = pv.Show(self.filter, view)
        pv.ColorBy(rep, ("CELLS", self.fields[0]))
        rep.RescaleTransferFunctionToDataRange(False)
        pv.GetColorTransferFunction(self.fields[0]).NanColor = [0.6, 0.6, 0.6]
        rep.SetScalarBarVisibility(view, True)
        pv.Render(view)

    def poll(self, seconds=0.0):
        """Takes over a selection made elsewhere; true when there was one."""
        try:
            change = self.link.poll(seconds)
        except OSError:
            self.link.reconnect()
            change = {"rev": self.link.rev}
        if change is None:
            return False
        self.refresh()
        return True

    def follow(self, view):
        """Takes over a selection made elsewhere and draws it, with the colours' range."""
        self.time = view.ViewTime
        if self.poll():
            pv.GetRepresentation(self.filter, view).RescaleTransferFunctionToDataRange(False)
            pv.Render(view)

    def pick(self, op="replace"):
        """Sends the cells selected in ParaView; the samples on them are selected everywhere.
        Returns how many cells, and how many samples are selected if that changed."""
        cells = plugin.pick(op=op)
        change = self.link.poll(2.0) or {}  # the filter sent it: told to this connection as to any other
        return {"cells": cells, "samples": change.get("samples"), "rev": self.link.rev}


def main(args):
    import argparse
    import builtins

    p = argparse.ArgumentParser(description="Isobath's fields on the mesh of DUMP files")
    p.add_argument("dumps", nargs="*")
    p.add_argument("--field", action="append")
    p.add_argument("--mode", default="upto", choices=plugin.MODES)
    p.add_argument("--png")
    a, _ = p.parse_known_args(args)  # the window program passes its own arguments on
    dumps = a.dumps or sorted(glob.glob(os.environ.get("ISOBATH_DUMPS", "")))
    source = pv.OpenDataFile(dumps) if dumps else pv.GetActiveSource()
    if source is None:
        sys.exit("paraview_isobath: open a mesh first, or name its files")
    viewer = Viewer(source, a.field or ["latency_avg", "samples"], a.mode)
    viewer.show()
    if a.png:
        pv.SaveScreenshot(a.png)
        return
    view = pv.GetActiveView()
    interactor = view.GetInteractor()
    if interactor:  # the program with a window: look for changes ten times a second
        interactor.AddObserver("TimerEvent", lambda *_: viewer.follow(view))
        interactor.CreateRepeatingTimer(100)
        builtins.isobath_view = viewer  # the Python shell has names of its own, but these too
    else:
        while True:
            if viewer.poll(1.0):
                pv.Render(view)


if __name__ == "__main__":
    # ParaView fills __main__ with names of its own (add, sum, pi, ...), so the work is
    # done in a module.
    import paraview_isobath

    paraview_isobath.main(sys.argv[1:])
