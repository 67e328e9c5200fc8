package caliper

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/csvtable"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// memory is a recording of the libpfm, alloc and mpi services as Caliper writes
// it: attributes first (type below nothing, property below the type, name below
// that), then nodes and snapshots. twin is the same as a table.
const memory = `__rec=node,id=12,attr=10,data=276,parent=3
__rec=node,id=13,attr=8,data=function,parent=12
__rec=node,id=14,attr=10,data=276,parent=3
__rec=node,id=15,attr=8,data=loop,parent=14
__rec=node,id=16,attr=10,data=65,parent=4
__rec=node,id=17,attr=8,data=libpfm.addr,parent=16
__rec=node,id=18,attr=10,data=65,parent=2
__rec=node,id=19,attr=8,data=libpfm.weight,parent=18
__rec=node,id=20,attr=8,data=libpfm.time,parent=18
__rec=node,id=21,attr=8,data=libpfm.cpu,parent=18
__rec=node,id=22,attr=10,data=20,parent=3
__rec=node,id=23,attr=8,data=libpfm.memory_level,parent=22
__rec=node,id=24,attr=8,data=alloc.label#libpfm.addr,parent=22
__rec=node,id=25,attr=10,data=1,parent=1
__rec=node,id=26,attr=8,data=mpi.rank,parent=25
__rec=node,id=40,attr=13,data=main
__rec=node,id=41,attr=15,data=outer\, loop,parent=40
__rec=node,id=42,attr=13,data=solve<a\=b>,parent=41
__rec=node,id=43,attr=23,data=L1
__rec=node,id=44,attr=24,data=grid,parent=43
__rec=node,id=45,attr=23,data=L3
__rec=ctx,ref=42=44,attr=17=19=20=21=26,data=7f00deadbeef=12=1000=0=3
__rec=ctx,ref=40=45,attr=17=19=20=21=26,data=10=250=2000=1=3
__rec=ctx,ref=41,attr=17=19=20,data=ff=7=3000
__rec=globals,ref=40,attr=26,data=3
`

const twin = `function,loop,addr,latency,time,cpu,level,symbol,rank,stack
solve<a=b>,"outer, loop",0x7f00deadbeef,12,1000,0,L1,grid,3,"main;outer, loop;solve<a=b>"
main,,0x10,250,2000,1,L3,,3,main
main,"outer, loop",0xff,7,3000,,,,,"main;outer, loop"
`

func read(t *testing.T, text string) *foreign.Imported {
	t.Helper()
	out, err := parse(t.Context(), strings.NewReader(text), &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTwin compares a recording with the table of the same values.
func TestTwin(t *testing.T) {
	if !sniff([]byte(memory)) {
		t.Fatal("not recognised")
	}
	got := read(t, memory).Tables[0]
	path := filepath.Join(t.TempDir(), "twin.csv")
	if err := os.WriteFile(path, []byte(twin), 0o666); err != nil {
		t.Fatal(err)
	}
	in, err := foreign.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	table, err := csvtable.Format.Samples(t.Context(), in, &foreign.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := table.Tables[0]
	if got.Rows() != want.Rows() {
		t.Fatalf("%d rows, want %d", got.Rows(), want.Rows())
	}
	for _, w := range want.Columns() {
		g := got.Column(w.Name)
		if g == nil {
			t.Errorf("no column %s", w.Name)
			continue
		}
		for i := range want.Rows() {
			if g.Has(i) != w.Has(i) || w.Has(i) && g.Text(i) != w.Text(i) {
				t.Errorf("%s, row %d: %q (%v), want %q (%v)", w.Name, i, g.Text(i), g.Has(i), w.Text(i), w.Has(i))
			}
		}
	}
}

// TestProfile reads what the runtime-report aggregates: sums of times by region,
// with units as attributes of attributes.
func TestProfile(t *testing.T) {
	out := read(t, `__rec=node,id=12,attr=10,data=64,parent=3
__rec=node,id=13,attr=8,data=attribute.alias,parent=12
__rec=node,id=14,attr=8,data=attribute.unit,parent=12
__rec=node,id=33,attr=14,data=sec,parent=5
__rec=node,id=34,attr=13,data=time,parent=33
__rec=node,id=35,attr=10,data=65,parent=34
__rec=node,id=36,attr=8,data=sum#sum#time.duration,parent=35
__rec=node,id=40,attr=10,data=276,parent=3
__rec=node,id=41,attr=8,data=region,parent=40
__rec=node,id=42,attr=41,data=main
__rec=ctx,ref=42,attr=36,data=0.000135
__rec=node,id=47,attr=41,data=init,parent=42
__rec=ctx,ref=47,attr=36,data=0.000015
`)
	tab := out.Tables[0]
	weight, event := samples.Summed(tab)
	if weight == nil || event != "sum#sum#time.duration" || weight.Unit != "ns" || weight.Float(0) != 135000 || weight.Float(1) != 15000 {
		t.Fatalf("%+v of %q", weight, event)
	}
	if got := tab.Column("stack").Text(1); got != "main;init" {
		t.Errorf("stack %q", got)
	}
	if got := tab.Column(samples.Function); got.Kind != table.Category || got.Text(1) != "init" {
		t.Errorf("function %q", got.Text(1))
	}
}

func TestDamaged(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "__rec=node,id=12,attr=10,data=1,parent=3\n", "no snapshots"},
		{"no such node", "__rec=ctx,ref=99\n", "node 99 does not exist"},
		{"no such parent", "__rec=node,id=12,attr=10,data=1,parent=77\n", "node 77, which does not exist"},
		{"values missing", "__rec=ctx,attr=8=9,data=1\n", "2 attributes with 1 values"},
		{"not a record", "__rec=ctx\nhello\n", "is no record of Caliper"},
	} {
		if _, err := parse(t.Context(), strings.NewReader(tt.text), &foreign.Options{}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	out, err := parse(t.Context(), strings.NewReader(memory+"hello\n"), &foreign.Options{Salvage: true})
	if err != nil || out.Tables[0].Rows() != 3 || len(out.Warnings) != 1 {
		t.Errorf("%v, %v", out, err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(memory))
	f.Fuzz(func(t *testing.T, data []byte) {
		sniff(data)
		_, _ = parse(t.Context(), bytes.NewReader(data), &foreign.Options{Salvage: true})
	})
}
