package mitos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/foreign"
)

func open(t *testing.T, path string) *foreign.Imported {
	t.Helper()
	in, err := foreign.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	if !Format.Sniff(in) {
		t.Fatalf("%s is not recognised", path)
	}
	out, err := Format.Samples(context.Background(), in, &foreign.Options{L1Latency: foreign.DefaultL1Latency})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func parseText(text string, opt foreign.Options) (*foreign.Imported, error) {
	return parse(context.Background(), "samples.csv", []byte(text), processor{}, &opt)
}

func mustParse(t *testing.T, text string) *foreign.Imported {
	t.Helper()
	out, err := parseText(text, foreign.Options{L1Latency: 4})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// counts returns how often each text occurs in a column.
func counts(c *table.Column) map[string]int {
	m := map[string]int{}
	for i := range c.Len() {
		m[c.Text(i)]++
	}
	return m
}

func sum(c *table.Column, accept func(int) bool) (s float64, n int) {
	for i := range c.Len() {
		if c.Has(i) && accept(i) {
			s += c.Float(i)
			n++
		}
	}
	return s, n
}

func all(int) bool { return true }

func TestLegacy(t *testing.T) {
	out := open(t, test.Shared(t, "samples/lulesh_legacy"))
	tab := out.Tables[0]
	if tab.Rows() != 15676 || out.Topology == nil {
		t.Fatalf("%d rows, topology of %d bytes", tab.Rows(), len(out.Topology))
	}
	if s, _ := sum(tab.Column("latency"), all); s != 1022618 {
		t.Errorf("latency sum %v", s)
	}
	want := map[string]int{"L1": 4101, "LFB": 1057, "L2": 6085, "L3": 1512, "Beyond L3": 2918, "Unknown": 3}
	if diff := cmp.Diff(want, counts(tab.Column("level"))); diff != "" {
		t.Errorf("levels: %s", diff)
	}
	if n := len(counts(tab.Column("symbol"))); n != 50 {
		t.Errorf("%d variables", n)
	}
	if c := counts(tab.Column("tlb")); c["miss"] != 2859 {
		t.Errorf("TLB: %v", c)
	}
	if c := counts(tab.Column("lock")); c["1"] != 3 {
		t.Errorf("lock: %v", c)
	}
	if c := counts(tab.Column("file")); c["LULESH_OMP.cc"] != 15640 || c[""] != 36 {
		t.Errorf("files: %v", c)
	}
	if _, n := sum(tab.Column("x"), all); n != 4543 {
		t.Errorf("%d rows with x", n)
	}
	tm := tab.Column("time")
	if tm.Base != 3617250629717268 || tm.Unit != "ticks" || tm.Data.([]int64)[15675] != 134973496174 {
		t.Errorf("time: base %d, unit %s, last %d", tm.Base, tm.Unit, tm.Data.([]int64)[15675])
	}
}

func TestUndoneHex(t *testing.T) {
	legacy := open(t, test.Shared(t, "samples/lulesh_legacy")).Tables[0]
	out := open(t, test.Shared(t, "samples/lulesh_dev_2015"))
	tab := out.Tables[0]
	if diff := cmp.Diff(counts(legacy.Column("level")), counts(tab.Column("level"))); diff != "" {
		t.Errorf("levels differ from the legacy form of the same data: %s", diff)
	}
	if !strings.Contains(strings.Join(out.Warnings, "\n"), "hexadecimal") {
		t.Errorf("warnings %q do not say that the numbers were undone", out.Warnings)
	}
	if tab.Column("time").Unit != "relative" {
		t.Errorf("time in %s", tab.Column("time").Unit)
	}
}

func TestMasked(t *testing.T) {
	out := open(t, test.Shared(t, "samples/mitos_1636037395"))
	tab := out.Tables[0]
	if tab.Rows() != 7062 || tab.Column("level").Provenance != table.Absent || tab.Column("symbol").Provenance != table.Absent {
		t.Errorf("%d rows, level %v, symbol %v", tab.Rows(), tab.Column("level").Provenance, tab.Column("symbol").Provenance)
	}
	if c := counts(tab.Column("op")); c["load"] != 7062 {
		t.Errorf("op: %v", c)
	}
	if _, n := sum(tab.Column("x"), all); n != 0 {
		t.Errorf("%d rows with x", n)
	}
	high := 0
	for _, a := range tab.Column("ip").Data.([]uint64) {
		if a >= 1<<63 {
			high++
		}
	}
	if high != 7 {
		t.Errorf("%d kernel ips, want 7", high)
	}
	want := map[string]int{"movsd": 3157, "mov": 2914, "imul": 380, "mulsd": 314, "cmp": 166, "add": 93, "": 37, "addsd": 1}
	if diff := cmp.Diff(want, counts(tab.Column("instruction"))); diff != "" {
		t.Error(diff)
	}
}

// headers reads the file of all known headers.
func headers(t *testing.T) map[string]string {
	body, err := os.ReadFile(test.Shared(t, "samples/mitos_headers.txt"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	title := ""
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			title = strings.TrimPrefix(line, "# ")
		case line != "":
			out[title] = line
		}
	}
	return out
}

// cell makes a plausible value for a column of any generation.
func cell(column string, row int) string {
	switch column {
	case "source":
		return fmt.Sprintf("src/f%d.c", row%3)
	case "variable":
		return fmt.Sprintf("v%d", row%4)
	case "instruction":
		return "mov"
	case "level":
		return [...]string{"L1", "Remote RAM 1 Hop", "L3"}[row%3]
	case "hit_type":
		return "Hit"
	case "op_type":
		return "Load"
	case "snoop_mode":
		return "Snoop None"
	case "tlb_access":
		return "TLB Hit"
	case "time":
		return fmt.Sprint(6045777543909725 + row*1000)
	case "dims":
		return "3"
	case "latency":
		return fmt.Sprint(100 + row)
	case "ibs_ld_op", "ibs_lin_addr_valid", "map3D":
		return "1"
	case "ibs_op_lin", "ibs_op_phy", "ibs_op_rip", "ibs_branch_target", "ibs_fetch_lin_addr", "ibs_fetch_phy_addr":
		return fmt.Sprintf("%x", 0x404040+row)
	case "ip", "addr", "address":
		return fmt.Sprint(uint64(1)<<63 + uint64(row))
	}
	return fmt.Sprint(row % 2)
}

func rows(columns []string, n int) string {
	var b strings.Builder
	for row := range n {
		for i, c := range columns {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(cell(c, row))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestEveryGeneration(t *testing.T) {
	for title, header := range headers(t) {
		t.Run(title, func(t *testing.T) {
			columns := strings.Split(header, ",")
			out := mustParse(t, header+"\n"+rows(columns, 60))
			tab := out.Tables[0]
			if tab.Rows() != 60 {
				t.Fatalf("%d rows, want 60; warnings %q", tab.Rows(), out.Warnings)
			}
			for _, name := range []string{"time", "cpu", "latency"} {
				if c := tab.Column(name); c == nil || c.Provenance == table.Absent {
					t.Errorf("no column %s", name)
				}
			}
			if addr := tab.Column("addr"); addr != nil && !strings.Contains(header, "ibs_") && addr.Data.([]uint64)[3] != 1<<63+3 {
				t.Errorf("addr of row 3 is %#x", addr.Data.([]uint64)[3])
			}
			if strings.Contains(header, "level,hit_type") {
				want := map[string]int{"L1": 20, "Remote RAM": 20, "L3": 20}
				if diff := cmp.Diff(want, counts(tab.Column("level"))); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

func TestRawBodies(t *testing.T) {
	for _, b := range bodies {
		columns := strings.Split(b.columns, ",")
		out := mustParse(t, rows(columns, 150))
		if out.Tables[0].Rows() != 150 {
			t.Errorf("%d fields without a header: %d rows", len(columns), out.Tables[0].Rows())
		}
		if cpu := out.Tables[0].Column("cpu"); cpu == nil || cpu.Float(1) != 1 {
			t.Errorf("%d fields: cpu column is wrong", len(columns))
		}
	}
}

const g10 = "source,line,instruction,bytes,virt_addr_offset,ip,variable,buffer_size,dims,xidx,yidx,zidx,pid,tid,time,addr,cpu,latency,level,hit_type,op_type,snoop_mode,tlb_access,numa\n"

func TestOmittedLoadBase(t *testing.T) {
	columns := strings.Split(strings.TrimSpace(strings.Replace(g10, "virt_addr_offset,", "", 1)), ",")
	out := mustParse(t, g10+rows(columns, 20))
	tab := out.Tables[0]
	if tab.Rows() != 20 || tab.Column("file").Provenance != table.Absent || tab.Column("virt_addr_offset").Provenance != table.Absent {
		t.Errorf("%d rows, file %v", tab.Rows(), tab.Column("file").Provenance)
	}
	if tab.Column("cpu").Float(1) != 1 || !strings.Contains(out.Warnings[0], "load base") || !strings.Contains(out.Warnings[1], "biased") {
		t.Errorf("cpu %v, warnings %q", tab.Column("cpu").Float(1), out.Warnings)
	}
}

func TestMissedLevelIsBeyond(t *testing.T) {
	row := strings.Split(strings.TrimSpace(rows(strings.Split(strings.TrimSpace(g10), ","), 1)), ",")
	row[18], row[19] = "L2", "Miss"
	tab := mustParse(t, g10+strings.Join(row, ",")+"\n").Tables[0]
	if got := tab.Column("level").Text(0); got != "Beyond L2" {
		t.Errorf("L2 miss is served at %q", got)
	}
}

func TestAbsurdLatency(t *testing.T) {
	columns := strings.Split(strings.TrimSpace(g10), ",")
	row := strings.Split(strings.TrimSpace(rows(columns, 1)), ",")
	row[17] = "631152000000000000"
	out := mustParse(t, g10+rows(columns, 5)+strings.Join(row, ",")+"\n")
	s, n := sum(out.Tables[0].Column("latency"), all)
	if s != 100+101+102+103+104 || n != 5 {
		t.Errorf("latency sum %v of %d samples", s, n)
	}
}

var opHeader = strings.Split("time,cpu,tid,latency,addr,"+opColumns, ",")

func opHead() string { return strings.Join(opHeader, ",") + "\n" }

// line writes a row of an IBS op file; what is not set is 0.
func line(set map[string]string) string {
	cells := make([]string, len(opHeader))
	for i, n := range opHeader {
		cells[i] = "0"
		if v, ok := set[n]; ok {
			cells[i] = v
		}
	}
	cells[0] = "6045777543909725"
	return strings.Join(cells, ",") + "\n"
}

func TestIBSOp(t *testing.T) {
	text := opHead() +
		line(nil) + // arithmetic: no sample
		line(map[string]string{"ibs_ld_op": "1", "ibs_lin_addr_valid": "1", "ibs_op_lin": "404040"}) +
		line(map[string]string{"ibs_ld_op": "1", "ibs_l2_miss": "1"}) + // skid: still L1
		line(map[string]string{"ibs_ld_op": "1", "ibs_dc_miss": "1", "ibs_dc_miss_lat": "30"}) +
		line(map[string]string{"ibs_ld_op": "1", "ibs_dc_miss": "1", "ibs_l2_miss": "1", "ibs_nb_req_src": "3", "ibs_nb_req_dst_node": "1", "ibs_dc_miss_lat": "400"}) +
		line(map[string]string{"ibs_st_op": "1", "ibs_dc_miss": "1", "ibs_l2_miss": "1", "ibs_nb_req_src": "3"}) +
		line(map[string]string{"ibs_ld_op": "1", "ibs_dc_miss": "1", "ibs_sw_pf": "1"}) +
		line(map[string]string{"ibs_ld_op": "1", "ibs_dc_uc_mem_acc": "1"})
	tab := mustParse(t, text).Tables[0]
	var got []string
	for i := range tab.Rows() {
		got = append(got, tab.Column("op").Text(i)+" "+tab.Column("level").Text(i)+" "+tab.Column("latency").Text(i))
	}
	want := []string{"load L1 4", "load L1 4", "load L2 34", "load Remote RAM 404", "store Beyond L2 ", "prefetch Beyond L1 4", "load Uncached 4"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if tab.Column("latency").Provenance != table.Modelled || tab.Column("addr").Text(0) != "0x404040" {
		t.Errorf("latency is %v, addr %s", tab.Column("latency").Provenance, tab.Column("addr").Text(0))
	}
}

// With all micro-ops kept, those that are no memory operations have no op,
// level, latency, address and width: not the hit in L1 that their bits look like.
func TestIBSAllOps(t *testing.T) {
	text := opHead() +
		line(map[string]string{"ibs_op_brn_ret": "1", "ibs_op_brn_misp": "1", "ibs_op_brn_taken": "1"}) +
		line(map[string]string{"ibs_ld_op": "1", "ibs_lin_addr_valid": "1", "ibs_op_lin": "404040", "ibs_op_mem_width": "4"}) +
		line(nil)
	out, err := parseText(text, foreign.Options{L1Latency: 4, AllOps: true})
	if err != nil {
		t.Fatal(err)
	}
	tab := out.Tables[0]
	if tab.Rows() != 3 {
		t.Fatalf("%d rows, want all 3", tab.Rows())
	}
	for _, name := range []string{"op", "level", "hit", "latency", "addr", "width", "lock", "tlb", "remote"} {
		c := tab.Column(name)
		if c.Has(0) || c.Has(2) || !c.Has(1) && name != "remote" {
			t.Errorf("%s: %v %v %v, want a value for the load alone", name, c.Has(0), c.Has(1), c.Has(2))
		}
	}
	if c := tab.Column("ibs_op_brn_misp"); c.Text(0) == c.Text(1) {
		t.Errorf("the mispredicted branch reads %s, the load %s", c.Text(0), c.Text(1))
	}
	if !strings.HasPrefix(out.Warnings[0], "1 of 3 micro-ops") {
		t.Errorf("warnings %q", out.Warnings)
	}
	if why := datasrc.Why(tab, 0); !strings.Contains(why, "neither a load nor a store") {
		t.Error(why)
	}
}

func TestIBSFetchIsApart(t *testing.T) {
	header := "time,cpu,latency,numa," + fetchColumns
	out := mustParse(t, header+"\n"+rows(strings.Split(header, ","), 4))
	if out.Tables[0].Name != "fetch" {
		t.Errorf("table %q: instruction fetches are not data accesses", out.Tables[0].Name)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"no time", "source,line,cpu,latency,addr\na,1,2,3,4\n", "--map time=NAME"},
		{"empty", "", "empty"},
		{"binary", "source,line,cpu\x00", "not a text file"},
		{"header only", g10, "no rows"},
		{"damaged", g10 + rows(strings.Split(strings.TrimSpace(g10), ","), 5) + "a,b\nc\n", "--salvage"},
		{"something else", "hello world\n", "--map"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := parseText(tt.text, foreign.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
	out, err := parseText(tests[4].text, foreign.Options{Salvage: true})
	if err != nil || out.Tables[0].Rows() != 5 || !strings.Contains(out.Warnings[0], "line 7") {
		t.Errorf("salvaged: %v, warnings %q", err, out.Warnings)
	}
}

func TestMapping(t *testing.T) {
	out, err := parseText("source,line,core,latency,when,addr\na.c,1,2,3,400,5\n", foreign.Options{Map: map[string]string{"time": "when", "cpu": "core"}})
	if err != nil {
		t.Fatal(err)
	}
	if c := out.Tables[0].Column("cpu"); c == nil || c.Float(0) != 2 {
		t.Errorf("cpu is not taken from the mapped column")
	}
}

func TestStateVariables(t *testing.T) {
	tab := mustParse(t, "source,line,time,cpu,latency,phase,temperature\na.c,1,10,2,3,solve,1.5\na.c,1,11,2,3,halo,2\n").Tables[0]
	if tab.Column("phase").Kind != table.Category || tab.Column("temperature").Kind != table.Number {
		t.Errorf("phase is a %v, temperature a %v", tab.Column("phase").Kind, tab.Column("temperature").Kind)
	}
}

func TestSingleFileFindsItsFolder(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, "data"), 0o755)
	os.WriteFile(filepath.Join(dir, "hardware.xml"), []byte("<Hardware/>"), 0o644)
	path := filepath.Join(dir, "data", "samples.csv")
	os.WriteFile(path, []byte(g10+rows(strings.Split(strings.TrimSpace(g10), ","), 3)), 0o644)
	if out := open(t, path); string(out.Topology) != "<Hardware/>" {
		t.Errorf("topology %q", out.Topology)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(g10 + rows(strings.Split(strings.TrimSpace(g10), ","), 3))
	f.Add("variable,source,line,time,iter,latency,dataSource,cpu,node,index,map3D,xidx,yidx,zidx\nm,??,0,cd9,1,3,20,4,0,9,1,2,1,9\n")
	f.Add("ip,pid,tid,time,addr,cpu,latency,data_src\n")
	f.Add(rows(strings.Split(bodies[8].columns, ","), 2))
	f.Fuzz(func(t *testing.T, text string) {
		out, err := parseText(text, foreign.Options{Salvage: true, L1Latency: 4})
		if err == nil && out.Tables[0].Rows() > strings.Count(text, "\n")+1 {
			t.Fatalf("%d rows from %d lines", out.Tables[0].Rows(), strings.Count(text, "\n")+1)
		}
	})
}

// TestAnybodysTable leaves a table with common names alone to the reader of
// tables, which does not want the columns of Mitos.
func TestAnybodysTable(t *testing.T) {
	for header, want := range map[string]bool{
		"time,latency,level,file,line,symbol":         false,
		"time,cpu,node,addr,latency,level":            false,
		"time,cpu,latency,address,offset,bytes":       false,
		"source,line,latency,time,cpu,level":          false,
		"variable,source,line,time,iter,latency":      false,
		"source,line,time,cpu,latency,level,hit_type": true,
		"time,ip,cpu,addr,data_src":                   true,
		"ibs_op_rip,ibs_ld_op,time,cpu,latency,a":     true,
	} {
		if got := sniff(&foreign.Input{Head: []byte(header + "\n")}); got != want {
			t.Errorf("%s: recognised %v, want %v", header, got, want)
		}
	}
}
