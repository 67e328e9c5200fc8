package main

// rows is everything that is measured, in the order it is printed.
var rows = []Row{
	{"screen", screen},
	{"doubling", doubling},
	{"memory", memory},
	{"quantiles", quantiles},
	{"drag", drag},
	{"cancel", cancel},
	{"duckdb", duckDB},
	{"trace", traces},
	{"mesh-field", meshField},
	{"mesh-surface", meshSurface},
	{"mesh-read", meshRead},
	{"import", imports},
	{"perf", perfData},
	{"symbol", attribution},
	{"record", recordings},
	{"cycles", cycles},
	{"refs", recordReferences},
	{"mpi", recordMessages},
	{"page", page},
	{"trace-page", tracePage},
	{"strip", strips},
	{"clusters", clustering},
	{"keystroke", keystrokes},
	{"insights", insightSearch},
}
