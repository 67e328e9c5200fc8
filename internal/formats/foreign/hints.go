package foreign

import (
	"bytes"
	"encoding/binary"
	"math"
	"regexp"
	"slices"
	"strings"
)

// lookalike is a kind of file that is not read, by how it begins or, for text, a
// pattern of its beginning, and what to do with it.
type lookalike struct {
	begins  string
	pattern *regexp.Regexp
	is      func(head []byte) bool // bytes that no pattern tells
	what    string
	advice  string
}

func (l *lookalike) matches(head []byte) bool {
	return (l.begins == "" || bytes.HasPrefix(head, []byte(l.begins))) && (l.pattern == nil || l.pattern.Match(head)) && (l.is == nil || l.is(head))
}

// has reports whether text stands at a place of a file.
func has(text string, at int) func([]byte) bool {
	return func(head []byte) bool { return len(head) >= at && bytes.HasPrefix(head[at:], []byte(text)) }
}

// mentions reports whether one of some texts is in the beginning of a file.
func mentions(texts ...string) func([]byte) bool {
	return func(head []byte) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(head, []byte(text)) })
	}
}

// packets reports whether a file is a sequence of protobuf messages in field 1, as
// the packets of Perfetto are: three that follow each other, and are no text.
func packets(head []byte) bool {
	const field1, wanted = 1<<3 | 2, 3
	for seen := 0; seen < wanted; seen++ {
		if len(head) == 0 || head[0] != field1 {
			return false
		}
		size, n := binary.Uvarint(head[1:])
		if n <= 0 || size < 2 || size > uint64(len(head)-1-n) || isText(head[1+n:1+n+int(size)]) {
			return false
		}
		head = head[1+n+int(size):]
	}
	return true
}

// binarySTL reports whether a file begins as binary STL: a line of 80 bytes, a count, and
// triangles of 50 bytes. Nothing in it says so; three normals of length 1 and attributes
// of 0 do.
func binarySTL(head []byte) bool {
	const line, triangle, wanted = 80, 50, 3
	if len(head) < line+4+wanted*triangle || binary.LittleEndian.Uint32(head[line:]) < wanted {
		return false
	}
	for i := range wanted {
		of := head[line+4+i*triangle:]
		x, y, z := float32At(of, 0), float32At(of, 4), float32At(of, 8)
		if long := x*x + y*y + z*z; !(math.Abs(long-1) < 0.01) || of[48] != 0 || of[49] != 0 { // the normal
			return false
		}
	}
	return true
}

func float32At(b []byte, at int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[at:])))
}

// isText reports whether bytes could be a line: none of them controls anything.
func isText(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c < ' ' && c != '\t' && c != '\r' && c != '\n' })
}

// Advice that several kinds share.
const (
	adviceCSV     = "export the table you want as CSV"
	adviceData    = "open the data that it was made of"
	adviceSamples = "it has sums without places in the code; isobath record or perf record take samples, which are read"
	adviceHpcprof = "make a database of it with hpcprof, and " + adviceCSV
	adviceStacks  = "open what it was made of: perf.data, perf script and folded stacks are read"
	adviceHeap    = "use a heap analyser; no accesses are in it"
	adviceCounts  = "it counts lines; isobath record -- PROGRAM shows where they wait"
	adviceMemory  = "it tells of errors; files of --tool=callgrind, cachegrind, dhat and lackey are read"
	adviceUnpack  = "unpack it and open what is inside"
	adviceArrow   = "convert it to Parquet or CSV with pandas or pyarrow, which are read"
	adviceTau     = "trace with TAU_TRACE=1 TAU_TRACE_FORMAT=otf2, whose archive is read"
	adviceMPI     = "record the messages: isobath record --mpi -- mpirun … PROGRAM"
	adviceV8      = "record with node --perf-basic-prof and perf, whose files are read"
	adviceMachine = "lstopo --of xml out.xml describes the machine in a form that is read"
	advicePython  = "python3 -X perf under perf record, or py-spy record -f raw, write samples that are read"
	advicePickle  = "load it there and write the table with pandas' to_csv or to_parquet"
	adviceMesh    = "open it in ParaView and save the data as .vtu, or .pvd for all its steps, which are read"
	adviceGprof   = "it has sums of functions; isobath record or perf record take samples, which are read"
)

const hdf5Start = "\x89HDF\r\n\x1a\n"

// lookalikes are files that people come with, the more certain first.
var lookalikes = []lookalike{
	{begins: "SQLite format 3\x00", what: "an SQLite database, as Nsight Systems, HPCToolkit and Intel's tools write", advice: "export the table you want as CSV (sqlite3 -header -csv FILE 'select …')"},
	{begins: "CUBEX.RES", what: "a profile of Cube (Score-P)", advice: "trace with SCOREP_ENABLE_TRACING=true, whose OTF2 archive is read, or export with cube_dump -s csv"},
	{begins: "anchor.xml\x00", what: "a profile of Cube (Score-P)", advice: "trace with SCOREP_ENABLE_TRACING=true, whose OTF2 archive is read, or export with cube_dump -s csv"},
	{begins: "<?xml version=\"1.0\"?>\n<HPCToolkit", what: "an experiment of HPCToolkit", advice: adviceCSV},
	{begins: "HPCPROF-", what: "a measurement of HPCToolkit", advice: adviceHpcprof},
	{begins: "HPCRUN-", what: "a measurement of HPCToolkit", advice: adviceHpcprof},
	{begins: "\x7fELF", is: has("\x04\x00", 16), what: "a core dump", advice: "open it in a debugger; record the program: isobath record -- PROGRAM"},
	{begins: "\x7fELF", what: "a program or library", advice: "record it: isobath record -- PROGRAM"},
	{pattern: regexp.MustCompile(`^(#include\b|#!/|// Package |package \w+\n)`), what: "the source of a program", advice: "record what it makes: isobath record -- PROGRAM"},
	{begins: "\x89PNG", what: "a picture", advice: adviceData},
	{begins: "%PDF", what: "a document", advice: adviceData},
	{begins: "PK\x03\x04", is: mentions("xl/", "[Content_Types].xml"), what: "a workbook", advice: "save the sheet as CSV"},
	{begins: "PK\x03\x04", is: mentions(".npy"), what: "arrays of NumPy", advice: "write them as a table with names: pandas.DataFrame(…).to_csv"},
	{begins: "PK\x03\x04", what: "a zip archive", advice: adviceUnpack},
	{begins: "7z\xbc\xaf\x27\x1c", what: "a 7z archive", advice: adviceUnpack},
	{is: has("ustar", 257), what: "a tar archive", advice: adviceUnpack},
	{begins: "{\"$schema\":\"https://www.speedscope.app", what: "a profile of speedscope", advice: "open what it was made of: pprof, callgrind, perf script and folded stacks are read"},
	{pattern: regexp.MustCompile(`^\{\s*"nodes":\s*\[\s*\{\s*"id":`), what: "a profile of V8 (node --cpu-prof, Chrome)", advice: "open it in speedscope and export that, or " + adviceV8},
	{pattern: regexp.MustCompile(`^\{\s*"head":\s*\{\s*"callFrame":`), what: "a heap profile of V8 (node --heap-prof)", advice: "open it in speedscope or Chrome's developer tools; no accesses are in it"},
	{begins: "v8-version,", what: "a log of V8 (node --prof)", advice: "node --prof-process --preprocess FILE makes what speedscope reads, or " + adviceV8},
	{begins: "{\"snapshot\":{\"meta\":", what: "a heap snapshot of V8", advice: "use its developer tools; no accesses are in it"},
	{begins: "{\"meta\":{", what: "a profile of the Firefox Profiler", advice: adviceStacks},
	{begins: "{\"version\":2,\"systemHost\":{\"name\":\"Firefox\"", what: "a profile of the Firefox Profiler", advice: adviceStacks},
	{pattern: regexp.MustCompile(`^\{"libs":\[(\{"start":|\],"meta":\{)`), what: "a profile of Firefox", advice: adviceStacks},
	{pattern: regexp.MustCompile(`^\{\s*"linux-perf-json-version"`), what: "JSON of perf data convert", advice: "open the perf.data that it was made of, which is read"},
	{pattern: regexp.MustCompile(`^\{\s*"results":\s*\[\s*\{\s*"command":`), what: "times of hyperfine", advice: "isobath ab -- A -- B takes sound trials of two commands; isobath record shows why one is slow"},
	{pattern: regexp.MustCompile(`^\{\s*"context":\s*\{\s*"(date|host_name)":`), what: "results of Google Benchmark", advice: "isobath ab -- A -- B takes sound trials of two commands; isobath record shows why one is slow"},
	{pattern: regexp.MustCompile(`^\{\s*"lscpu":`), what: "a description of lscpu", advice: adviceMachine},
	{pattern: regexp.MustCompile(`^Architecture:\s`), what: "a description of lscpu", advice: adviceMachine},
	{pattern: regexp.MustCompile(`^\{[^{\[]*"gcc_version":`), what: "counts of gcov", advice: adviceCounts},
	{pattern: regexp.MustCompile(`^(adcg|gcda|oncg|gcno)`), what: "counts of gcov", advice: adviceCounts},
	{pattern: regexp.MustCompile(`^ +-: +0:Source:`), what: "counts of gcov", advice: adviceCounts},
	{pattern: regexp.MustCompile(`^TN:[^\n]*\nSF:`), what: "counts of lcov", advice: adviceCounts},
	{pattern: regexp.MustCompile(`^mode: (set|count|atomic)\n`), what: "coverage of go test", advice: "go test -cpuprofile FILE writes a profile that is read"},
	{pattern: regexp.MustCompile(`^goos: \w+\ngoarch: `), what: "results of go test -bench", advice: "compare them with benchstat; go test -cpuprofile FILE writes a profile that is read"},
	{pattern: regexp.MustCompile(`^go 1\.\d+ trace\x00`), what: "an execution trace of Go", advice: "go tool trace -pprof=sync FILE > out.pb.gz (or net, syscall, sched) makes a profile that is read"},
	{pattern: regexp.MustCompile(`^(\w+ profile: (total )?\d+|--- (contention|mutex):\n)`), what: "a profile of pprof as text", advice: "go tool pprof -proto PROGRAM FILE > out.pb.gz writes the form that is read"},
	{begins: "# To display the perf.data header info", what: "a report of perf", advice: "open the perf.data that it was made of, which is read"},
	{pattern: regexp.MustCompile(`^ *(\?|\d+\.\d+) \( *([\d.]+ ms)? *\): `), what: "a log of perf trace", advice: "no memory accesses are in it; isobath record takes samples of them"},
	{begins: "gmon", what: "a profile of gprof", advice: adviceGprof},
	{pattern: regexp.MustCompile(`^(Flat profile:|\t\t     Call graph)`), what: "a report of gprof", advice: adviceGprof},
	{pattern: regexp.MustCompile(`^v \d+ \d+\n([A-Z] [^\n]*\n)?`), what: "a recording of heaptrack", advice: "heaptrack_print -F out.folded FILE writes folded stacks, which are read; or record with valgrind --tool=dhat"},
	{begins: "desc: ", what: "a profile of Valgrind's massif", advice: "record with --tool=dhat, whose files are read"},
	{pattern: regexp.MustCompile(`^(<\?xml[^>]*\?>\s*)?<valgrindoutput>`), what: "a report of Valgrind", advice: adviceMemory},
	{pattern: regexp.MustCompile(`^==\d+== `), what: "a log of Valgrind", advice: adviceMemory},
	{pattern: regexp.MustCompile(`^(# started on |\s*Performance counter stats for|\{"counter-value" :)`), what: "counters of perf stat", advice: adviceSamples},
	{pattern: regexp.MustCompile(`^% time +seconds +usecs/call`), what: "a summary of strace -c", advice: "perf trace record writes calls with their times; isobath record takes samples of memory"},
	{pattern: regexp.MustCompile(`^(\d+ +)?(\d[\d:.]* +)?(execve|brk|[a-z_]\w*(->\w+)?)\([^\n]*\) += `), what: "a log of strace or ltrace", advice: "no memory accesses are in it; isobath record takes samples of them"},
	{pattern: regexp.MustCompile(`^\tCommand being timed: `), what: "what time -v prints", advice: adviceSamples},
	{pattern: regexp.MustCompile(`^\[ *\d+\.\d+\] `), what: "a log of the kernel", advice: "record the program: isobath record -- PROGRAM"},
	{pattern: regexp.MustCompile(`^\n\S+:     file format `), what: "a listing of objdump", advice: "record the program: isobath record -- PROGRAM; the page shows its instructions with their samples"},
	{pattern: regexp.MustCompile(`^[0-9a-f]{5,16}-[0-9a-f]{5,16} [r-][w-][x-][ps] `), what: "the mappings of a process", advice: "isobath record keeps them by itself"},
	{begins: "procs ---", what: "what vmstat prints", advice: adviceSamples},
	{pattern: regexp.MustCompile(`^# tracer: `), what: "a trace of ftrace", advice: "record the same events with perf record -e, whose files are read"},
	{begins: "\x17\x08\x44tracing", what: "a recording of trace-cmd", advice: "record the same events with perf record -e, whose files are read"},
	{pattern: regexp.MustCompile(`^(Attaching \d+ probes?\.\.\.\s*)?@\w*\[\n`), what: "stacks of bpftrace", advice: "stackcollapse-bpftrace.pl of the flame graph scripts makes folded stacks of it, which are read"},
	{pattern: regexp.MustCompile(`^import time: self \[us\] \|`), what: "times of Python's imports", advice: advicePython},
	{begins: "\xfb)\x03", what: "a profile of Python's cProfile", advice: advicePython},
	{begins: "{)\x03", what: "a profile of Python's cProfile", advice: advicePython},
	{begins: "\x80", is: mentions("\ttracemalloc", "\vtracemalloc"), what: "a snapshot of Python's tracemalloc", advice: "it tells who allocated; no accesses are in it"},
	{begins: "\x80\x04\x95", what: "a pickle of Python", advice: advicePickle},
	{begins: "\x80\x05\x95", what: "a pickle of Python", advice: advicePickle},
	{begins: "memray\x00", what: "a recording of memray", advice: "memray transform csv FILE exports its allocations; no accesses are in it"},
	{begins: "\x93NUMPY", what: "an array of NumPy", advice: "write it as a table with names: pandas.DataFrame(…).to_csv"},
	{pattern: regexp.MustCompile(`^\d+ templated_functions`), what: "a profile of TAU", advice: adviceTau},
	{begins: "@ mpiP", what: "a report of mpiP", advice: adviceMPI},
	{begins: "CLOG-02.", what: "a trace of MPE", advice: adviceMPI},
	{begins: "SLOG 2.", what: "a trace of Jumpshot", advice: adviceMPI},
	{pattern: regexp.MustCompile(`^\d\.\d\d\x00{4}`), is: has("\x37\x35\x64\x00\x00\x00\x00\x00", 8), what: "a log of Darshan", advice: "darshan-parser prints it: it tells of files, no accesses to memory are in it"},
	{begins: "NVR\x00", what: "a report of Nsight Compute", advice: "ncu --import FILE --csv exports it"},
	{is: packets, what: "a trace of Perfetto", advice: "traceconv json FILE out.json, which comes with Perfetto, writes trace events, which are read"},
	{begins: "Nettrace", what: "a trace of .NET", advice: "dotnet-trace convert --format Chromium FILE writes trace events, which are read"},
	{begins: "bplist00", what: "a property list of Apple's tools", advice: "export the table as CSV with xctrace export"},
	{begins: "FLR\x00", what: "a recording of Java's flight recorder", advice: "convert it to folded stacks with the converter of async-profiler"},
	{begins: "JAVA PROFILE", what: "a heap dump of Java", advice: adviceHeap},
	{begins: "FEA1", what: "a table of Feather", advice: adviceArrow},
	{begins: "ORC", what: "a table of ORC", advice: adviceArrow},
	{begins: "Obj\x01", what: "a table of Avro", advice: adviceArrow},
	{begins: "\xd4\xc3\xb2\xa1", what: "packets of a network", advice: adviceMPI},
	{begins: "\x0a\x0d\x0d\x0a", what: "packets of a network", advice: adviceMPI},
	{pattern: regexp.MustCompile(`^\s*(<\?xml[^>]*\?>\s*)?(<!DOCTYPE Xdmf[^>]*>\s*)?<Xdmf\b`), what: "a mesh in XDMF", advice: adviceMesh},
	{pattern: regexp.MustCompile(`^FORMAT\s+type:\s*ensight`), what: "a case of EnSight", advice: adviceMesh},
	{begins: "C Binary\x00", what: "a geometry of EnSight", advice: "open its .case file in ParaView and save the data as .vtu, or .pvd for all its steps, which are read"},
	{begins: "Fortran Binary", what: "a geometry of EnSight", advice: "open its .case file in ParaView and save the data as .vtu, or .pvd for all its steps, which are read"},
	{pattern: regexp.MustCompile(`^ply\r?\nformat `), what: "a surface in PLY", advice: adviceMesh},
	{pattern: regexp.MustCompile(`^solid\b[^\n]*\n\s*facet normal `), what: "a surface in STL", advice: adviceMesh},
	{is: binarySTL, what: "a surface in STL", advice: adviceMesh},
	{pattern: regexp.MustCompile(`(^|\n)FoamFile\s*\{`), what: "a file of OpenFOAM", advice: "foamToVTK writes the case as VTK files, which are read"},
	{begins: hdf5Start, is: mentions("CGNSLibraryVersion"), what: "a mesh in CGNS", advice: adviceMesh},
	{begins: hdf5Start, is: mentions("openPMD"), what: "data of openPMD", advice: "openPMD-viewer or ParaView's openPMD reader open it; save a mesh as .vtu, particles as CSV, which are read"},
	{begins: hdf5Start, what: "HDF5 of a kind that is not known", advice: "of HDF5, VTKHDF, Chombo, Silo and Exodus are read"},
	{pattern: regexp.MustCompile(`^CDF[\x01\x02\x05]`), what: "netCDF of a kind that is not known", advice: "of netCDF, Exodus is read; open a mesh in ParaView and save it as .vtu"},
	{begins: "$MeshFormat", what: "a mesh of Gmsh", advice: "gmsh FILE -save -o out.vtk writes it as VTK, which is read"},
	{begins: "#!TDV", what: "data of Tecplot", advice: adviceMesh},
	{pattern: regexp.MustCompile(`(?i)^\s*(TITLE\s*=[^\n]*\n\s*)?VARIABLES\s*=\s*"`), what: "data of Tecplot", advice: adviceMesh},
	{pattern: regexp.MustCompile(`^#(std|par) \d`), what: "a field of Nek5000", advice: adviceMesh},
	{begins: "\xed\xab\xee\xdb", what: "an RPM package", advice: "install it first"},
	{begins: "!<arch>", what: "a library archive or Debian package", advice: "open the data, not the program"},
}

// OfAnotherTool says what a file that is not read seems to be, and how it could
// become one that is; empty if nothing certain tells it.
func OfAnotherTool(head []byte) string {
	i := slices.IndexFunc(lookalikes, func(l lookalike) bool { return l.matches(head) })
	if i < 0 {
		return ""
	}
	return "it looks like " + lookalikes[i].what + "; " + lookalikes[i].advice
}

// looksLike says what an unknown file seems to be and how it could become one
// that is read; empty if that is not known.
func looksLike(head []byte) string {
	if what := OfAnotherTool(head); what != "" {
		return what
	}
	trimmed := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(trimmed, []byte("{")) || bytes.HasPrefix(trimmed, []byte("[")):
		return "it looks like JSON of a kind that is not known; export a table with a line of names as CSV"
	case bytes.HasPrefix(trimmed, []byte("<")):
		return "it looks like XML of a kind that is not known; of XML, hwloc's, Mitos', sys-sage's and VTK's are read"
	}
	return ""
}

// folderLookalike is a kind of folder that is not read: a file in it that tells.
type folderLookalike struct {
	holds  *regexp.Regexp
	what   string
	advice string
}

var folderLookalikes = []folderLookalike{
	{regexp.MustCompile(`^profile\.cubex$`), "a profile of Score-P", "trace with SCOREP_ENABLE_TRACING=true, whose OTF2 archive is read, or export with cube_dump -s csv"},
	{regexp.MustCompile(`^profile\.\d+\.\d+\.\d+$`), "profiles of TAU", adviceTau},
	{regexp.MustCompile(`\.hpcrun$`), "measurements of HPCToolkit", adviceHpcprof},
	{regexp.MustCompile(`^(experiment\.xml|experiment\.db)$`), "a database of HPCToolkit", adviceCSV},
	{regexp.MustCompile(`\.vtune$`), "a result of VTune", "vtune -report hotspots -format csv -result-dir FOLDER exports it as CSV"},
	{regexp.MustCompile(`^(task\.txt|default\.opts)$`), "a recording of uftrace", "uftrace dump --chrome -d FOLDER > out.json writes trace events, which are read"},
	{regexp.MustCompile(`^(TRACE\.mpits|set-0)$`), "a recording of Extrae before it was merged", "mpi2prv -f TRACE.mpits -o out.prv makes a trace of Paraver, which is read"},
	{regexp.MustCompile(`^form\.template$`), "a recording of Apple's Instruments", "export the table as CSV with xctrace export"},
}

// looksLikeFolder says what an unknown folder seems to be; empty if that is not
// known.
func looksLikeFolder(names []string) string {
	for _, l := range folderLookalikes {
		if slices.ContainsFunc(names, func(n string) bool { return l.holds.MatchString(strings.TrimSuffix(n, "/")) }) {
			return "it looks like " + l.what + "; " + l.advice
		}
	}
	return ""
}
