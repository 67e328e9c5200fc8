package formats

import (
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/arrowfile"
	"github.com/isobath/isobath/internal/formats/caliper"
	"github.com/isobath/isobath/internal/formats/callgrind"
	"github.com/isobath/isobath/internal/formats/champsim"
	"github.com/isobath/isobath/internal/formats/chombo"
	"github.com/isobath/isobath/internal/formats/chrometrace"
	"github.com/isobath/isobath/internal/formats/csvtable"
	"github.com/isobath/isobath/internal/formats/ctf"
	"github.com/isobath/isobath/internal/formats/dhat"
	"github.com/isobath/isobath/internal/formats/dramsim"
	"github.com/isobath/isobath/internal/formats/drmemtrace"
	"github.com/isobath/isobath/internal/formats/exodus"
	"github.com/isobath/isobath/internal/formats/folded"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/gem5"
	"github.com/isobath/isobath/internal/formats/hwloc"
	"github.com/isobath/isobath/internal/formats/lackey"
	"github.com/isobath/isobath/internal/formats/mitos"
	"github.com/isobath/isobath/internal/formats/mitosxml"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/formats/paraver"
	"github.com/isobath/isobath/internal/formats/parquetfile"
	"github.com/isobath/isobath/internal/formats/perfdata"
	"github.com/isobath/isobath/internal/formats/perftext"
	"github.com/isobath/isobath/internal/formats/pinatrace"
	"github.com/isobath/isobath/internal/formats/pprof"
	"github.com/isobath/isobath/internal/formats/refscsv"
	"github.com/isobath/isobath/internal/formats/silo"
	"github.com/isobath/isobath/internal/formats/syssage"
	"github.com/isobath/isobath/internal/formats/vtk"
	"github.com/isobath/isobath/internal/formats/vtkhdf"
)

// Known is the list, in the order in which files are tried: formats with a
// certain signature first, text that merely looks right last.
var Known = foreign.List{
	{Name: otf2.Name, Kind: kind.Trace, Sniff: func(in *foreign.Input) bool { return otf2.Sniff(in.Head, in.Names) }, Trace: otf2.Open},
	paraver.Format,
	ctf.Format,
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
	caliper.Format,
	pprof.Format,
	dhat.Format,
	chrometrace.Format,
	callgrind.Format,
	perftext.Format,
	gem5.Format,
	drmemtrace.Format,
	lackey.Format,
	pinatrace.Format,
	refscsv.Format,
	dramsim.Format,
	folded.Format,
	mitos.Format,
	csvtable.Format,
	champsim.Format,
}
