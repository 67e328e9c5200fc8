package foreign

import (
	"errors"
	"strings"
	"testing"
)

// TestUnknownFiles holds that a file which is not read says what it seems to be
// and what to do with it, and is unknown all the same.
func TestUnknownFiles(t *testing.T) {
	for head, want := range map[string]string{
		"SQLite format 3\x00\x10":                                            "sqlite3 -header -csv",
		"\x7fELF\x02\x01":                                                    "isobath record",
		"CUBEX.RES":                                                          "SCOREP_ENABLE_TRACING",
		`{"nodes":[{"id":1,"callFrame"`:                                      "node --perf-basic-prof",
		`{"meta":{"interval":1,"startTime"`:                                  "Firefox Profiler",
		`{"version":2,"systemHost":{"name":"Firefox"`:                        "Firefox Profiler",
		"desc: --massif-out-file=ms.out\ncmd: ./p":                           "--tool=dhat",
		"heap profile: 108: 996432 [823: 9756328] @ heap/1024\n":             "go tool pprof -proto",
		"goroutine profile: total 3\n1 @ 0x47e0a5\n":                         "go tool pprof -proto",
		"--- mutex:\ncycles/second=2100000000\n":                             "go tool pprof -proto",
		"     0.527 ( 0.003 ms): prog/16352 brk()":                           "a log of perf trace",
		"0123 execve(\"./p\", [\"./p\"], 0x7ffe /* 9 vars */) = 0\n":         "strace",
		"10:00:00.000001 openat(AT_FDCWD, \"x\", O_RDONLY) = 3 <0.000010>\n": "strace",
		"{\n  \"results\": [\n    {\n      \"command\": \"a\"":               "isobath ab",
		"v 10400 3\nX ./p\nI 1000 5\n":                                       "heaptrack_print -F",
		"3 templated_functions_MULTI_TIME\n# Name Calls":                     "TAU_TRACE_FORMAT=otf2",
		"@ mpiP\n@ Command : ./p":                                            "isobath record --mpi",
		"Attaching 1 probe...\n\n@[\n    main+1\n]: 3\n":                     "stackcollapse-bpftrace.pl",
		"Nettrace\x14\x00\x00\x00!FastSerialization.1":                       "dotnet-trace convert",
		"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x04\x00>":   "core dump",
		"PK\x03\x04 [Content_Types].xml":                                     "a workbook",
		"\n\x04P\x01h\x01\n\x04P\x01h\x02\n\x02P\x01":                        "traceconv json",
		"\n\x04text\n\x04text\n\x04text":                                     "it starts with",
		"\x93NUMPY\x01\x00":                                                  "to_csv",
		"[    0.000000] Linux version 6.1\n":                                 "a log of the kernel",
		"FORMAT\ntype: ensight gold\nGEOMETRY\n":                             "a case of EnSight",
		"ply\nformat binary_little_endian 1.0\n":                             "a surface in PLY",
		"solid cube\n facet normal 0 0 1\n":                                  "a surface in STL",
		"solid ground is rare\n":                                             "it starts with",
		"/*--- C++ ---*/\nFoamFile\n{\n version 2.0;":                        "foamToVTK",
		"\x89HDF\r\n\x1a\n\x02 CGNSLibraryVersion":                           "a mesh in CGNS",
		"\x89HDF\r\n\x1a\n\x00 openPMD":                                      "data of openPMD",
		"\x89HDF\r\n\x1a\n\x00":                                              "of HDF5, VTKHDF",
		"CDF\x01\x00\x00\x00\x00":                                            "of netCDF, Exodus",
		"$MeshFormat\n4.1 0 8\n":                                             "gmsh",
		"TITLE = \"x\"\nVARIABLES = \"X\", \"Y\"\nZONE I=3\n":                "data of Tecplot",
		"<?xml version=\"1.0\" ?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n<Xdmf Version=\"2.0\">": "a mesh in XDMF",
		"  [1, 2]":                    "looks like JSON",
		"<?xml version=\"1.0\"?><a/>": "looks like XML",
		"\x00\x01\x02\x03":            "it starts with",
	} {
		_, err := List{}.Recognise(&Input{Path: "x", Head: []byte(head)})
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", head, err, want)
		}
	}
}

// TestUnknownFolders holds the same for folders of other tools.
func TestUnknownFolders(t *testing.T) {
	for name, want := range map[string]string{
		"profile.cubex": "SCOREP_ENABLE_TRACING", "profile.0.0.0": "TAU_TRACE_FORMAT=otf2", "p-000000.hpcrun": "hpcprof", "p.vtune": "vtune -report",
		"task.txt": "uftrace dump --chrome", "TRACE.mpits": "mpi2prv", "notes.txt": "the folder holds",
	} {
		_, err := List{}.Recognise(&Input{Path: "x", Names: []string{"a", name}})
		if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
