package perftext

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/perfdata"
)

func parseText(t testing.TB, text string) *foreign.Imported {
	t.Helper()
	im, err := parse(context.Background(), strings.NewReader(text), &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// cells writes the named columns of a table, one line a row; a column that is
// missing is empty.
func cells(tab *table.Table, names ...string) []string {
	out := make([]string, tab.Rows())
	for i := range out {
		var words []string
		for _, n := range names {
			word := ""
			if c := tab.Column(n); c != nil {
				word = c.Text(i)
			}
			words = append(words, word)
		}
		out[i] = strings.Join(words, ",")
	}
	return out
}

// Lines that perf versions from 3.12 to 6.x printed on Intel, AMD and ARM,
// quoted from mails and bug reports, and what they say.
var quoted = []struct{ name, line, want string }{
	{"alder lake, three weights", `         taskset  182628 247517.778385:          1  cpu_core/mem-loads,ldlat=30/: ffffb33a850078a0     40268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  Addr               5              33               0 ffffffff8cc2ba08 [unknown] ([unknown])`,
		"taskset,,182628,,1,cpu_core/mem-loads,ldlat=30/,0xffffb33a850078a0,load,L1,5,33,,0xffffffff8cc2ba08,,"},
	{"alder lake, locked", `            java  182628 247517.778886:         81  cpu_core/mem-loads,ldlat=30/: ffffe27184888430     4026a100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK Yes|BLK  Addr                  5              68               7 ffffffff8ce13245 [unknown] ([unknown])`,
		"java,,182628,,81,cpu_core/mem-loads,ldlat=30/,0xffffe27184888430,load,L1,5,68,7,0xffffffff8ce13245,,"},
	{"a tab before the event", "chromium-browse   46572 [002] 544966.882384:      10000 \tcpu_core/MEM_UOPS_RETIRED.LOAD_LATENCY/: 7ffdf1391b0c     10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK    N/A    5   7    0   7fad7c47425d [unknown] (/usr/lib64/libglib-2.0.so.0.8000.3)",
		"chromium-browse,,46572,2,10000,cpu_core/MEM_UOPS_RETIRED.LOAD_LATENCY/,0x7ffdf1391b0c,load,L1,5,7,,0x7fad7c47425d,,libglib-2.0.so.0.8000.3"},
	{"atom, instruction only", `gnome-control-c  534224 [023] 544951.816227:      10000 cpu_atom/MEM_UOPS_RETIRED.LOAD_LATENCY/:   7f0aaaa0aae0  [unknown] (/usr/lib64/libglib-2.0.so.0.8000.3)`,
		"gnome-control-c,,534224,23,10000,cpu_atom/MEM_UOPS_RETIRED.LOAD_LATENCY/,,,,,,,0x7f0aaaa0aae0,,libglib-2.0.so.0.8000.3"},
	{"data_src and weight only", `     10668100842 |OP LOAD|LVL L3 or L3 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A		    47`,
		",,,,,,,load,L3,47,,,,,"},
	{"TLB miss", `     10650100842 |OP LOAD|LVL L3 or L3 hit|SNP None|TLB L2 miss|LCK No|BLK  N/A                    144`,
		",,,,,,,load,L3,144,,,,,"},
	{"weight and symbol", `  cpu/mem-loads,ldlat=30/P:           43     55b3c122bffc noploop`,
		",,,,,cpu/mem-loads,ldlat=30/P,,,,43,,,0x55b3c122bffc,noploop,"},
	{"amd, two levels", `          51088842 |OP LOAD|LVL L3 or Remote Cache (1 hop) hit|SNP N/A|TLB L2 miss|LCK N/A|BLK  N/A`,
		",,,,,,,load,Remote Cache,,,,,,"},
	{"amd, nothing behind BLK", `1a49081042 |OP LOAD|LVL RAM hit|SNP N/A|TLB L2 hit|LCK N/A|BLK`,
		",,,,,,,load,Local RAM,,,,,,"},
	{"amd store", `1e29080024 |OP STORE|LVL N/A|SNP N/A|TLB L1 hit|LCK N/A|BLK  N/A`,
		",,,,,,,store,,,,,,,"},
	{"spe", `       memstress  3603 [020]   122.463754:          1              memory:       8688000842 |OP LOAD|LVL L3 or L3 hit|SNP Peer|TLB Walker hit|LCK No|BLK  N/A              aaaac17c3e88 [unknown] (/home/ubuntu/memstress)`,
		"memstress,,3603,20,1,memory,,load,L3,,,,0xaaaac17c3e88,,memstress"},
	{"older spe without the first words", `  ls 14753 [011]  3678.072400:          1    tlb-access:         88000182 L1 miss|SNP N/A|TLB Walker hit|LCK No|BLK  N/A ffffa7c22b4b2a00 [unknown] ([kernel.kallsyms])`,
		"ls,,14753,11,1,tlb-access,,load,Beyond L1,,,,0xffffa7c22b4b2a00,,[kernel.kallsyms]"},
	{"spe, instruction only", `    dd  6799 [034] 25496.733475:          1              l1d-access:      ffff87f37b88 _dl_start+0x288 (/usr/lib/aarch64-linux-gnu/ld-2.28.so)`,
		"dd,,6799,34,1,l1d-access,,,,,,,0xffff87f37b88,_dl_start,ld-2.28.so"},
	{"a thread that has exited", `             :-1    -1 [001] 25309.484377:       sched:sched_switch: prev_comm=prog prev_pid=12055 ==> next_comm=node`,
		":-1,,-1,1,,sched:sched_switch,,,,,,,,,"},
	{"an event without a name", `            prog 7/9 [002]     0.000001002:         12 raw 0x1cd:HG:     7f0000000008           400101 f (/bin/prog)`,
		"prog,7,9,2,12,raw 0x1cd:HG,0x7f0000000008,,,,,,0x400101,f,prog"},
	{"blanks in the command", `Web Content 7 [x] 12/13 [001] 5.000001: 7 ev: 0 401165 add (/bin/prog)`,
		"Web Content 7 [x],12,13,1,7,ev,,,,,,,0x401165,add,prog"},
	{"instruction of digits, function of hex digits", `prog 13 5.000001: 7 cpu/mem-loads/P: 404040 10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A 7 401165 add (/bin/prog)`,
		"prog,,13,,7,cpu/mem-loads/P,0x404040,load,L1,7,,,0x401165,add,prog"},
	{"words alone", `prog 13 5.000001: 7 cpu/mem-loads/P: |OP LOAD|LVL Remote RAM (1 hop) hit|SNP HitM|TLB L2 miss|LCK Yes|BLK  N/A 310 ffffffff814041a3 f (/bin/prog)`,
		"prog,,13,,7,cpu/mem-loads/P,,load,Remote RAM,310,,,0xffffffff814041a3,f,prog"},
}

func TestQuotedLines(t *testing.T) {
	for _, tt := range quoted {
		t.Run(tt.name, func(t *testing.T) {
			tab := parseText(t, tt.line+"\n").Tables[0]
			got := cells(tab, "comm", "pid", "tid", "cpu", "period", "event", "addr", "op", "level", "weight", "ins_lat", "retire_lat", "ip", "function", "module")
			if len(got) != 1 || got[0] != tt.want {
				t.Errorf("%s\n got %v\nwant %s", tt.line, got, tt.want)
			}
		})
	}
}

func TestFoldedLine(t *testing.T) {
	tab := parseText(t, "prog 13 5.000001: 7 cpu/mem-loads/P: 404040 \\\n 10268100142 |OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit\\\n|LCK No|BLK  N/A 7 401165 add (/bin/prog)\n").Tables[0]
	if got := cells(tab, "addr", "level", "weight", "ip"); len(got) != 1 || got[0] != "0x404040,L1,7,0x401165" {
		t.Errorf("got %v", got)
	}
}

func TestCallChain(t *testing.T) {
	tab := parseText(t, `prog 13 5.000001: 7 cycles:
	    401165 inner+0x5 (/bin/prog)
	    401200 outer(int, char)+0x10 (/bin/prog)
	7f0000001000 [unknown] (/lib/libc.so.6)

prog 13 5.000002: 7 cycles:
	    401165 inner+0x6 (/bin/prog)

`).Tables[0]
	want := []string{"0x401165|inner|libc.so.6+0x7f0000001000;outer(int, char);inner|outer(int, char)", "0x401165|inner|inner|"}
	var got []string
	for _, row := range []int{0, 1} {
		var words []string
		for _, n := range []string{"ip", "function", "stack", "caller"} {
			words = append(words, tab.Column(n).Text(row))
		}
		got = append(got, strings.Join(words, "|"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// One SPE record is printed under several events.
func TestRepeatedRecords(t *testing.T) {
	record := func(event string) string {
		return fmt.Sprintf("m 3603 [020] 122.463754: 1 %s: 8688000842 |OP LOAD|LVL L3 hit|SNP Peer|TLB Walker hit|LCK No|BLK N/A aaaac17c3e88 f (/m)\n", event)
	}
	im := parseText(t, record("l1d-miss")+record("l1d-access")+record("memory"))
	if got := cells(im.Tables[0], "event"); len(got) != 1 || got[0] != "memory" {
		t.Errorf("events %v, want memory alone", got)
	}
	im = parseText(t, record("l1d-miss")+record("l1d-access"))
	if got := cells(im.Tables[0], "event"); len(got) != 1 {
		t.Errorf("events %v, want one", got)
	}
	if len(im.Warnings) == 0 || !strings.Contains(im.Warnings[0], "1 lines repeat") {
		t.Errorf("warnings %q", im.Warnings)
	}
}

func importShared(t *testing.T, format foreign.Format, name string) *foreign.Imported {
	t.Helper()
	in, err := foreign.Look(test.Shared(t, "perf/"+name))
	if err != nil {
		t.Fatal(err)
	}
	if !format.Sniff(in) {
		t.Fatalf("%s is not recognised", name)
	}
	im, err := format.Samples(context.Background(), in, &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// The texts that perf made of a recording say what the recording says.
func TestTextEqualsRecording(t *testing.T) {
	for _, tt := range []struct {
		text, data string
		columns    []string
	}{
		{"skylakeX_perf-script_default.txt", "google_pdc_perf.data.weight_struct", []string{"cpu", "tid", "comm", "ip", "addr", "op", "level", "tlb", "lock", "latency", "weight", "event", "data_src"}},
		{"skylakeX_perf-script_weightstruct.txt", "google_pdc_perf.data.weight_struct", []string{"cpu", "pid", "tid", "comm", "ip", "addr", "op", "level", "latency", "event", "data_src"}},
		{"skylakeX_perf-mem-report-D.txt", "google_pdc_perf.data.weight_struct", []string{"pid", "tid", "ip", "addr", "op", "level", "latency", "data_src"}},
		{"ivybridgeEP_perf-script-default_data.txt", "numatop_perf.data", []string{"tid", "comm", "ip", "addr", "level", "lock", "latency", "period", "event", "data_src"}},
		{"ivybridgeEP_perf-script_data.txt", "numatop_perf.data", []string{"pid", "tid", "ip", "addr", "level", "lock", "latency", "period", "event", "data_src"}},
		{"ivybridgeEP_perf-mem-report-D_data.txt", "numatop_perf.data", []string{"pid", "tid", "ip", "addr", "level", "latency", "data_src"}},
		{"local_pagefaults_d.txt", "local_pagefaults_d.data", []string{"pid", "tid", "comm", "ip", "addr", "event"}},
		{"local_watchpoint.txt", "local_watchpoint.data", []string{"pid", "tid", "comm", "ip", "addr", "event"}},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got := cells(importShared(t, Format, "text/"+tt.text).Tables[0], tt.columns...)
			want := cells(importShared(t, perfdata.Format, tt.data).Tables[0], tt.columns...)
			if len(got) < 14 {
				t.Fatalf("%d samples", len(got))
			}
			if strings.HasPrefix(tt.text, "local_") {
				want = want[:len(got)] // the text is the first lines
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-recording +text)\n%s", diff)
			}
		})
	}
}

// What Debian's perf prints today, of every recording it reads and with its
// default fields, is imported with all samples.
func TestReadsWhatPerfPrints(t *testing.T) {
	perf := test.Peer(t, "perf", "linux-perf")
	for _, name := range []string{"local_multi.data", "local_phys.data", "local_callgraph.data", "numatop_perf.data", "google_pdc_perf.data.weight_struct"} {
		text := runPerf(t, perf, "script", "-f", "-i", test.Shared(t, "perf/"+name), "--ns")
		columns := []string{"tid", "ip", "event", "time"}
		if strings.Contains(name, "callgraph") {
			columns[1] = "comm" // perf prints the frames of a chain relative to their file
		}
		got := cells(parseText(t, text).Tables[0], columns...)
		want := cells(importShared(t, perfdata.Format, name).Tables[0], columns...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-recording +text)\n%s", name, diff)
		}
	}
}

// No other text of the shared data is taken for perf's.
func TestSniffRefusesOthers(t *testing.T) {
	root := test.Shared(t, "samples")
	n := 0
	err := filepath.WalkDir(filepath.Dir(root), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path, "/perf/") {
			return err
		}
		in, err := foreign.Look(path)
		if err != nil {
			return err
		}
		n++
		if Format.Sniff(in) {
			t.Errorf("%s is taken for text of perf", path)
		}
		return nil
	})
	if err != nil || n == 0 {
		t.Fatalf("%d files looked at: %v", n, err)
	}
}

func FuzzText(f *testing.F) {
	for _, q := range quoted {
		f.Add(q.line + "\n")
	}
	f.Add("# PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL\n1 2 0x3 0x016ff 7 0x68100142 [k]:f\n")
	f.Add("p 1 5.000001: ev:\n\t 401165 f (x)\n\t 12 g\\\n")
	f.Fuzz(func(t *testing.T, text string) {
		im, err := parse(context.Background(), strings.NewReader(text), &foreign.Options{})
		if err != nil {
			return
		}
		if im.Tables[0].Rows() == 0 {
			t.Error("no rows and no error")
		}
	})
}

func runPerf(t *testing.T, perf string, args ...string) string {
	t.Helper()
	out, err := exec.Command(perf, args...).Output()
	if err != nil {
		t.Fatalf("perf %v: %v", args, err)
	}
	return string(out)
}
