"""Run by the test in ParaView's window program. Writes a line for each field
that arrives. Names are odd because ParaView fills __main__ with its own."""
import os
import sys

sys.path.insert(0, os.environ["ISOBATH_CLIENTS"])
import paraview_isobath as isobath_bridge

isobath_out = open(os.environ["ISOBATH_OUT"], "w", buffering=1)
isobath_field = isobath_bridge.isobath.Link.field


def isobath_spy(self, *names, **more):
    got = isobath_field(self, *names, **more)
    isobath_out.write("field rev=%d used=%d\n" % (got.rev, got.counts["used"]))
    return got


isobath_bridge.isobath.Link.field = isobath_spy
isobath_bridge.main(sys.argv[1:])
isobath_out.write("ready\n")
