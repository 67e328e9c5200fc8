package tabular_test

import (
	"slices"
	"strings"
	"testing"

	schema "github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Headers as other programs write them; each names what it is taken for, and
// nothing where the name alone does not say.
func TestColumnsOfOtherTools(t *testing.T) {
	tests := []struct {
		name, text string
		want       map[string]string // of the first row
		without    string            // columns that must not be there
		says       string            // part of the warnings
	}{
		{"level and weight", "CPU,Memory Level,Weight\n3,LLC,40\n", map[string]string{"cpu": "3", "level": "L3", "weight": "40"}, "latency", `column "Memory Level" is taken for it`},
		{"the shortest name", "cpu,lvl\n3,DRAM\n", map[string]string{"level": "Local RAM"}, "", ""},
		{"short names", "cpu;Mem Level;Latency (cycles)\n3;DRAM;40\n", map[string]string{"level": "Local RAM", "latency": "40"}, "", ""},
		{"perf's weight of an access", "Local Weight,Memory access,Symbol,Shared Object,Data Symbol,Data Object,Locked\n519,L1 or L1 hit,[.] main,a.out,[.] grid+0x40,a.out,Yes\n",
			map[string]string{"latency": "519", "level": "L1", "function": "main", "symbol": "grid", "lock": "1", "Data Object": "a.out"}, "weight", ""},
		{"perf's weight of something else", "cpu,Local Weight\n3,7\n", map[string]string{"weight": "7"}, "latency", ""},
		{"symbol of code and of data", "cpu,symbol,data_symbol\n3,solve,grid\n", map[string]string{"function": "solve", "symbol": "grid"}, "", ""},
		{"our own symbol", "cpu,symbol\n3,grid\n", map[string]string{"symbol": "grid"}, "function", ""},
		{"symbol beside a module", "cpu,Symbol,Module\n3,solve,a.out\n", map[string]string{"function": "solve"}, "symbol", ""},
		{"symbol beside a function", "cpu,Symbol,Function\n3,grid,solve\n", map[string]string{"function": "solve", "symbol": "grid"}, "", ""},
		{"symbol that says neither", "cpu,Symbol\n3,solve\n", map[string]string{"Symbol": "solve"}, "symbol function", "--map function=Symbol or --map symbol=Symbol"},
		{"words for reads and writes", "cpu,Access Type\n3,R\n4,W\n", map[string]string{"op": "load"}, "", ""},
		{"words that are no levels", "cpu,Data Source\n3,file.bin\n", map[string]string{"Data Source": "file.bin"}, "level", "--map 'level=Data Source'"},
		{"an address of code", "Instruction Pointer,Data Linear Address\n0x40,0x80\n", map[string]string{"ip": "0x40", "addr": "0x80"}, "", ""},
		{"a core may be a CPU", "Core,latency\n3,40\n", map[string]string{"Core": "3"}, "cpu", "--map cpu=Core"},
		{"words in the place of numbers", "time,CPU ID\n3,left\n", map[string]string{"CPU ID": "left"}, "cpu", "is not taken"},
		{"two could be meant", "Latency (ns),Load Latency,cpu\n1,2,3\n", nil, "latency", `--map 'latency=Latency (ns)' or --map 'latency=Load Latency'`},
		{"camel case", "threadId,memLevel,lineNumber\n7,L2,12\n", map[string]string{"tid": "7", "level": "L2", "line": "12"}, "", ""},
		{"VTune's means", "Function,Memory Object,Loads,Average Latency (cycles)\nsolve,grid,1000,33\n", map[string]string{"function": "solve", "symbol": "grid"}, "latency weight", "--map weight=NAME"},
		{"a report of perf", "# To display the perf.data header info, please use --header/--header-only options.\n#\n# Samples: 5  of event 'cpu/mem-loads/'\n#\n" +
			"# Overhead,     Samples,Local Weight,Memory access  ,Symbol      ,Shared Object,Data Symbol     ,Locked\n" +
			" 60.00% , 3          ,519         ,L3 or L3 hit   ,[.] sweep   ,a.out        ,[.] grid+0x40   ,No    \n            |\n            ---sweep\n               main\n\n" +
			" 40.00% , 2          ,7           ,L1 or L1 hit   ,[.] fill    ,a.out        ,[.] grid        ,Yes   \n\n\n#\n# (Tip: see also, perf c2c)\n#\n",
			map[string]string{"latency": "519", "level": "L3", "function": "sweep", "symbol": "grid", "lock": "0"}, "weight", "2 rows for 5 samples"},
		{"the source of a line", "time,source,line,latency,cpu,iter\n1,heat.c,5,100,0,2\n", map[string]string{"file": "heat.c", "line": "5", "iteration": "2"}, "", `column "source" is taken for it`},
		{"a source that is a level", "time,source,line,latency\n1,L2,5,100\n", map[string]string{"source": "L2"}, "file", "are levels"},
		{"a source without a line", "time,source,latency\n1,heat.c,100\n", map[string]string{"source": "heat.c"}, "file", "--map file=source"},
		{"a header in a comment", "# made by x\n# time,cpu,latency\n5,3,40\n", map[string]string{"time": "0", "cpu": "3", "latency": "40"}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := importText(t, tt.text, nil)
			if err != nil {
				t.Fatal(err)
			}
			tab := out.Tables[0]
			for name, want := range tt.want {
				if c := tab.Column(name); c == nil || c.Text(0) != want {
					t.Errorf("%s is %v, want %s (warnings %q)", name, c, want, out.Warnings)
				}
			}
			for name := range strings.FieldsSeq(tt.without) {
				if tab.Column(name) != nil {
					t.Errorf("something was taken for %s: %q", name, out.Warnings)
				}
			}
			if w := strings.Join(out.Warnings, "\n"); !strings.Contains(w, tt.says) {
				t.Errorf("warnings %q, want %q", w, tt.says)
			}
		})
	}
}

// What the user says beats what a name says.
func TestMappedBeforeRecognised(t *testing.T) {
	out, err := importText(t, "cpu,Symbol,Data Symbol\n3,grid,other\n", map[string]string{"symbol": "Symbol"})
	if err != nil {
		t.Fatal(err)
	}
	if c := out.Tables[0].Column("symbol"); c == nil || c.Text(0) != "grid" || out.Tables[0].Column("function") != nil {
		t.Errorf("symbol is %v with %q", c, out.Warnings)
	}
}

func TestOperationWords(t *testing.T) {
	out, err := importText(t, "cpu,op\n0,READ\n1,st\n2,fence\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	op := out.Tables[0].Column("op")
	if got := op.Text(0) + "," + op.Text(1) + "," + op.Text(2); got != "load,store,fence" {
		t.Errorf("operations %s", got)
	}
	if w := strings.Join(out.Warnings, "\n"); !strings.Contains(w, `"fence" is no operation that is known`) || !strings.Contains(w, "--map op:fence=load") {
		t.Errorf("warnings %q", w)
	}
	out, err = importText(t, "cpu,op\n0,fence\n", map[string]string{"op:fence": "store"})
	if err != nil || out.Tables[0].Column("op").Text(0) != "store" {
		t.Errorf("mapped operation %v, %v", out, err)
	}
}

// A row that stands for several samples counts as so many, or it is said that it
// does not.
func TestRowsThatAreSums(t *testing.T) {
	out, err := importText(t, "Overhead,Samples,Local Weight,Memory access\n60%,3,40,L3 hit\n40%,1,9,L1 hit\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	tab := out.Tables[0]
	var latency []string
	for i := range tab.Rows() {
		latency = append(latency, tab.Column("latency").Text(i))
	}
	if !slices.Equal(latency, []string{"40", "40", "40", "9"}) || tab.Column("Samples") != nil {
		t.Errorf("latencies %v with columns %v", latency, out.Warnings)
	}
	if w := strings.Join(out.Warnings, "\n"); !strings.Contains(w, "2 rows for 4 samples") {
		t.Errorf("warnings %q", w)
	}
	const sums = "Function,Loads,Average Latency (cycles)\nsolve,1000,33\nfill,10,5\n"
	out, err = importText(t, sums, map[string]string{"weight": "Loads"})
	if err != nil {
		t.Fatal(err)
	}
	if c, event := schema.Summed(out.Tables[0]); c == nil || event != "Loads" || c.Float(0) != 1000 {
		t.Errorf("rows are sums of %q, with %q", event, out.Warnings)
	}
	// Counts that are none, or more than may be laid out, leave the rows alone.
	for _, count := range []string{"0", "1.5", "99999999"} {
		out, err := importText(t, "cpu,Samples\n0,"+count+"\n1,2\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		if out.Tables[0].Rows() != 2 || !strings.Contains(strings.Join(out.Warnings, "\n"), "counts as one sample") {
			t.Errorf("%s samples: %d rows, %q", count, out.Tables[0].Rows(), out.Warnings)
		}
	}
}

// A description of ours is believed whatever the names look like.
func TestDescribedNamesStay(t *testing.T) {
	const text = "# isobath {\"tableSchema\":{\"columns\":[{\"titles\":\"symbol\",\"isobath:kind\":\"category\",\"isobath:provenance\":\"measured\"}," +
		"{\"titles\":\"samples\",\"isobath:kind\":\"number\",\"isobath:provenance\":\"measured\"},{\"titles\":\"Data Symbol\",\"isobath:kind\":\"category\",\"isobath:provenance\":\"measured\"}]}}\n" +
		"symbol,samples,Data Symbol\ngrid,3,x\n"
	out, err := importText(t, text, nil)
	if err != nil {
		t.Fatal(err)
	}
	tab := out.Tables[0]
	if c := tab.Column("symbol"); c == nil || c.Text(0) != "grid" || c.Provenance != table.Measured || tab.Rows() != 1 || len(out.Warnings) > 0 {
		t.Errorf("symbol %v, %d rows, %q", c, tab.Rows(), out.Warnings)
	}
}

// The unit of a latency is what the file, its column's name or the user says; where
// nobody does, it has none and that is said.
func TestUnitOfLatency(t *testing.T) {
	tests := []struct {
		name, text string
		m          map[string]string
		unit, says string
	}{
		{"not said", "cpu,latency\n0,5\n", nil, "", "so none is shown; give it with --map latency=latency:UNIT"},
		{"behind the name", "cpu,Latency (ns)\n0,5\n", nil, "ns", ""},
		{"by the user", "cpu,latency\n0,5\n", map[string]string{"latency": "latency:cycles"}, "cycles", ""},
		{"in the name", "cpu,lat_ns\n0,5\n", map[string]string{"latency": "lat_ns"}, "ns", `as its name "lat_ns" ends`},
		{"perf's weight", "cpu,Local Weight,Memory access\n0,5,L1 hit\n", nil, "cycles", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := importText(t, tt.text, tt.m)
			if err != nil {
				t.Fatal(err)
			}
			if c := out.Tables[0].Column(schema.Latency); c == nil || c.Unit != tt.unit {
				t.Errorf("latency is %+v, want %s", c, tt.unit)
			}
			if said := strings.Join(out.Warnings, "; "); !strings.Contains(said, tt.says) || tt.says == "" && strings.Contains(said, "read in") {
				t.Errorf("warnings %q, want %q", said, tt.says)
			}
		})
	}
}

// A name that ends in a unit is known as the same name without it, if the unit is one of
// what it names: latency_ns is a latency, cpu_ms is no CPU.
func TestUnitAtTheEndOfAName(t *testing.T) {
	tests := []struct{ name, as, value, unit string }{
		{"latency_ns", "latency", "7", "ns"},
		{"lat_us", "latency", "7", "us"},
		{"latencyNs", "latency", "7", "ns"},
		{"Latency-Cycles", "latency", "7", "cycles"},
		{"latency in cycles", "latency", "7", "cycles"},
		{"loadLatencyCyc", "latency", "7", "cycles"},
		{"MEM_LATENCY_NSEC", "latency", "7", "ns"},
		{"access latency / us", "latency", "7", "us"},
		{"latency_ms", "latency", "7", "ms"},
		{"latency_µs", "latency", "7", "us"},
		{"Latency (nsec)", "latency", "7", "ns"},
		{"time_ms", "time", "7000000", "ns"},
		{"timestamp_ns", "time", "7", "ns"},
		{"timestampUs", "time", "7000", "ns"},
		{"t_us", "time", "7000", "ns"},
		{"ts.ns", "time", "7", "ns"},
		{"Time in seconds", "time", "7000000000", "ns"},
		{"time_μs", "time", "7000", "ns"},
		{"access_size_bytes", "width", "7", "bytes"},
		{"weight_cycles", "weight", "7", "cycles"},

		{"cpu_ms", "", "", ""},
		{"cpu_time_ms", "", "", ""},
		{"avg_latency_ns", "", "", ""},
		{"latency_p99_ns", "", "", ""},
		{"latency_bytes", "", "", ""},
		{"latency (%)", "", "", ""},
		{"Time (cycles)", "", "", ""},
		{"time_ticks", "", "", ""},
		{"line_bytes", "", "", ""},
		{"times", "", "", ""},
		{"tens", "", "", ""},
		{"latencies", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := importText(t, "tid,"+tt.name+"\n1,0\n2,7\n", nil)
			if err != nil {
				t.Fatal(err)
			}
			columns := out.Tables[0].Columns()
			c := columns[1]
			if tt.as == "" {
				if c.Name != tt.name {
					t.Errorf("%q is taken for %s: %q", tt.name, c.Name, out.Warnings)
				}
				return
			}
			if c.Name != tt.as || c.Text(1) != tt.value || c.Unit != tt.unit {
				t.Errorf("%q is %s, %s %s, want %s, %s %s", tt.name, c.Name, c.Text(1), c.Unit, tt.as, tt.value, tt.unit)
			}
			w := strings.Join(out.Warnings, "\n")
			if guessed := tt.as == "latency" && !strings.Contains(tt.name, "("); !strings.Contains(w, tt.name) || guessed != strings.Contains(w, "latency: read in "+tt.unit+", as its name") {
				t.Errorf("warnings %q do not say what was taken", w)
			}
		})
	}
}

// What stands beside a column of that very name, or another that could be meant, and what
// is not taken though a unit makes it likely.
func TestUnitAtTheEndBesideOthers(t *testing.T) {
	tests := []struct{ name, text, latency, says string }{
		{"the very name", "cpu,latency,latency_ns\n0,5,6\n", "5", ""},
		{"two units", "cpu,latency_ns,latency_cycles\n0,5,6\n", "", "say which with --map latency=latency_ns or --map latency=latency_cycles"},
		{"a cost in cycles", "cpu,delay_cycles\n0,5\n", "", "--map latency=delay_cycles"},
		{"the user's word", "cpu,latency_ns,other\n0,5,6\n", "6", ""},
		{"a time in cycles", "cpu,time_cycles\n0,5\n", "", `column "time_cycles" may be the time`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var m map[string]string
			if tt.name == "the user's word" {
				m = map[string]string{"latency": "other"}
			}
			out, err := importText(t, tt.text, m)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if c := out.Tables[0].Column(schema.Latency); c != nil {
				got = c.Text(0)
			}
			if w := strings.Join(out.Warnings, "\n"); got != tt.latency || !strings.Contains(w, tt.says) {
				t.Errorf("latency %q, want %q; warnings %q, want %q", got, tt.latency, w, tt.says)
			}
		})
	}
}
