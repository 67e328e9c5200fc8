// Package known lists every format Isobath reads.
package known

import (
	"isobath/internal/formats"
	"isobath/internal/formats/arrowfile"
	"isobath/internal/formats/champsim"
	"isobath/internal/formats/chombo"
	"isobath/internal/formats/csvtable"
	"isobath/internal/formats/dramsim"
	"isobath/internal/formats/drmemtrace"
	"isobath/internal/formats/exodus"
	"isobath/internal/formats/gem5"
	"isobath/internal/formats/hwloc"
	"isobath/internal/formats/lackey"
	"isobath/internal/formats/mitos"
	"isobath/internal/formats/mitosxml"
	"isobath/internal/formats/otf2"
	"isobath/internal/formats/parquetfile"
	"isobath/internal/formats/perfdata"
	"isobath/internal/formats/perftext"
	"isobath/internal/formats/pinatrace"
	"isobath/internal/formats/refscsv"
	"isobath/internal/formats/silo"
	"isobath/internal/formats/syssage"
	"isobath/internal/formats/vtk"
	"isobath/internal/formats/vtkhdf"
)

// Formats is the list, in the order in which files are tried: formats with a
// certain signature first, text that merely looks right last.
var Formats = []formats.Format{
	otf2.Format,
	arrowfile.Format,
	parquetfile.Format,
	perfdata.Format,
	hwloc.Format,
	mitosxml.Format,
	syssage.Format,
	vtk.Legacy,
	vtk.XML,
	chombo.Format,
	silo.Format,
	vtkhdf.Format,
	exodus.Format,
	perftext.Format,
	gem5.Format,
	drmemtrace.Format,
	lackey.Format,
	pinatrace.Format,
	refscsv.Format,
	dramsim.Format,
	mitos.Format,
	csvtable.Format,
	champsim.Format,
}
