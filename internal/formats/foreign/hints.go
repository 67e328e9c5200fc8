package foreign

import "bytes"

// lookalike is a kind of file that is not read, by how it begins, and what to do
// with it.
type lookalike struct {
	begins string
	what   string
	advice string
}

// lookalikes are files that people come with.
var lookalikes = []lookalike{
	{"SQLite format 3\x00", "an SQLite database, as Nsight Systems, HPCToolkit and Intel's tools write", "export the table you want as CSV (sqlite3 -header -csv FILE 'select …')"},
	{"CUBEX.RES", "a profile of Cube (Score-P)", "trace with SCOREP_ENABLE_TRACING=true, whose OTF2 archive is read, or export with cube_dump -s csv"},
	{"<?xml version=\"1.0\"?>\n<HPCToolkit", "an experiment of HPCToolkit", "export the table you want as CSV"},
	{"HPCPROF-", "a measurement of HPCToolkit", "make a database of it with hpcprof, and export the table you want as CSV"},
	{"HPCRUN-", "a measurement of HPCToolkit", "make a database of it with hpcprof, and export the table you want as CSV"},
	{"\x7fELF", "a program or library", "record it: isobath record -- PROGRAM"},
	{"\x89PNG", "a picture", "open the data that it was made of"},
	{"%PDF", "a document", "open the data that it was made of"},
	{"PK\x03\x04", "a zip archive", "unpack it and open what is inside"},
	{"{\"$schema\":\"https://www.speedscope.app", "a profile of speedscope", "open what it was made of: pprof, callgrind, perf script and folded stacks are read"},
	{"{\"nodes\":[{\"id\":", "a profile of V8 (node --cpu-prof, Chrome)", "open it in speedscope and export that, or record with node --perf-basic-prof and perf, whose files are read"},
	{"{\"meta\":{", "a profile of the Firefox Profiler", "open what it was made of: perf.data, perf script and folded stacks are read"},
	{"{\"version\":2,\"systemHost\":{\"name\":\"Firefox\"", "a profile of the Firefox Profiler", "open what it was made of: perf.data, perf script and folded stacks are read"},
	{"{\"snapshot\":{\"meta\":", "a heap snapshot of V8", "use its developer tools; no accesses are in it"},
	{"desc: ", "a profile of Valgrind's massif", "record with --tool=dhat, whose files are read"},
	{"bplist00", "a property list of Apple's tools", "export the table as CSV with xctrace export"},
	{"FLR\x00", "a recording of Java's flight recorder", "convert it to folded stacks with the converter of async-profiler"},
	{"JAVA PROFILE", "a heap dump of Java", "use a heap analyser; no accesses are in it"},
	{"\xed\xab\xee\xdb", "an RPM package", "install it first"},
	{"!<arch>", "a library archive or Debian package", "open the data, not the program"},
}

// looksLike says what an unknown file seems to be and how it could become one
// that is read; empty if that is not known.
func looksLike(head []byte) string {
	for _, l := range lookalikes {
		if bytes.HasPrefix(head, []byte(l.begins)) {
			return "it looks like " + l.what + "; " + l.advice
		}
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
