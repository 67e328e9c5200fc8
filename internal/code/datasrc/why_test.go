package datasrc

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

func TestIBSLevel(t *testing.T) {
	tests := []struct {
		name string
		op   IBSOp
		zen  Zen
		want hw.Level
		says string
	}{
		{"hit", IBSOp{Load: true}, Zen3, hw.L1, "ibs_dc_miss is not set"},
		{"skid", IBSOp{Load: true, L2Miss: true}, Zen3, hw.L1, "belongs to another operation"},
		{"L2", IBSOp{Load: true, DCMiss: true}, Zen4, hw.L2, "but not L2"},
		{"erratum", IBSOp{Load: true, DCMiss: true, Prefetch: true}, Zen3, hw.BeyondL1, "erratum 1293"},
		{"no erratum on Zen 2", IBSOp{Load: true, DCMiss: true, Prefetch: true}, Zen12, hw.L2, "but not L2"},
		{"L3 on Zen 3", IBSOp{Load: true, DCMiss: true, L2Miss: true, Source: 2}, Zen3, hw.L3, "source 2"},
		{"neighbour on Zen 4", IBSOp{Load: true, DCMiss: true, L2Miss: true, Source: 2}, Zen4, hw.LocalPeerCache, "Zen 4 and later"},
		{"remote memory", IBSOp{Load: true, DCMiss: true, L2Miss: true, Source: 3, Remote: true}, Zen4, hw.RemoteRAM, "of another node"},
		{"store", IBSOp{DCMiss: true, L2Miss: true, Source: 3}, Zen3, hw.BeyondL2, "for loads only"},
		{"shared buffer", IBSOp{Load: true, DCMiss: true, L2Miss: true, NoMAB: true}, Zen4, hw.LFB, "under way"},
		{"uncached", IBSOp{Load: true, Uncached: true}, Zen3, hw.Uncached, "uncached"},
		{"I/O", IBSOp{Load: true, Uncached: true, Source: 7}, Zen3, hw.IO, "I/O"},
		{"reserved code", IBSOp{Load: true, DCMiss: true, L2Miss: true, Source: 1}, Zen3, hw.Unknown, "source 1"},
	}
	for _, tt := range tests {
		if got, why := tt.op.Level(tt.zen); got != tt.want || !strings.Contains(why, tt.says) {
			t.Errorf("%s: %v because %s; want %v and %q", tt.name, got, why, tt.want, tt.says)
		}
	}
}

func flagOf(name string, values ...uint8) *table.Column {
	return table.Flags(name, table.Measured, values, nil)
}

// ibsTable has a hit, a miss to L2 and a miss to memory, all loads, and a store.
func ibsTable(t *testing.T) *table.Table {
	t.Helper()
	load := func(i int) bool { return i < 3 }
	miss := func(i int) bool { return i > 0 }
	counter := []int64{0, 10, 300, 0}
	tab, err := table.New("samples", []*table.Column{
		IBSLatency(4, load, miss, func(i int) int64 { return counter[i] }, 4),
		table.Categories("level", table.Measured, []uint32{0, 1, 2, 3}, []string{"L1", "L2", "Local RAM", "Beyond L2"}, nil),
		flagOf("ibs_ld_op", 1, 1, 1, 0), flagOf("ibs_dc_miss", 0, 1, 1, 1), flagOf("ibs_l2_miss", 0, 0, 1, 1),
		table.Ints("ibs_nb_req_src", "", table.Measured, []int64{0, 0, 3, 3}, nil),
		table.Ints("ibs_dc_miss_lat", "cycles", table.Measured, counter, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestWhy(t *testing.T) {
	tab := ibsTable(t)
	for row, want := range []string{
		"L1: the L1 data cache had the line (ibs_dc_miss is not set).",
		"L2: it missed L1 (ibs_dc_miss) but not L2 (ibs_l2_miss is not set).",
		"Local RAM: it missed L1 and L2, and source 3 (ibs_nb_req_src) is Local RAM on Zen 1 to 3.",
		"Beyond L2: it missed L1 and L2; the source of the data is recorded for loads only.",
	} {
		if got := Why(tab, row); got != want {
			t.Errorf("row %d: %s\nwant %s", row, got, want)
		}
	}
}

// Every decoded word gives a reason for its own level, and none for another.
func TestWhyAgreesWithDecoding(t *testing.T) {
	words := []uint64{0x68100142, 0x268100242, 0x5080021, 0x68100842, 0x3c42, 0x1002_0000_0142, 0x22_0000_0002, 0x1a_0000_0042}
	accesses := NewColumns(len(words))
	values := make([]int64, len(words))
	for i, w := range words {
		accesses.Append(Perf(w))
		values[i] = int64(w)
	}
	columns := append(accesses.Table(table.Measured), table.Ints("data_src", "", table.Measured, values, nil))
	tab, err := table.New("samples", columns)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range words {
		if why := Why(tab, i); !strings.HasPrefix(why, Perf(w).Level.String()) && Perf(w).Level != hw.NoLevel || strings.Contains(why, "do not lead there") || !strings.Contains(why, "data_src") {
			t.Errorf("%#x: %s", w, why)
		}
	}
}

func TestWhyWithoutFields(t *testing.T) {
	level := table.Categories("level", table.Measured, []uint32{0}, []string{"L3"}, nil)
	for want, columns := range map[string][]*table.Column{
		"does not say": {flagOf("lock", 1)},
		"as the recorder wrote it; the data keeps no fields": {level},
		"names this level as a hit":                          {level, table.Categories("hit", table.Measured, []uint32{0}, []string{"hit"}, nil)},
		"do not lead there":                                  {level, table.Ints("dataSource", "", table.Measured, []int64{1}, nil)},
		"low four bits 0x6":                                  {level, table.Ints("dataSource", "", table.Measured, []int64{0x46}, nil)},
	} {
		tab, err := table.New("samples", columns)
		if err != nil {
			t.Fatal(err)
		}
		if got := Why(tab, 0); !strings.Contains(got, want) {
			t.Errorf("%s; want %q", got, want)
		}
	}
}

func TestAssumeL1(t *testing.T) {
	tab := ibsTable(t)
	for _, l1 := range []int{4, 7, -1, 0} {
		changed, err := AssumeL1(tab, l1)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := AssumedL1(changed); !ok || got != l1 {
			t.Errorf("assumed %d, found %d, %v", l1, got, ok)
		}
		latency := changed.Column("latency")
		want := float64(300 + max(l1, 0))
		if latency.Float(2) != want || latency.Has(0) != (l1 >= 0) || latency.Has(3) {
			t.Errorf("l1 %d: latency %s %s %s %s", l1, latency.Text(0), latency.Text(1), latency.Text(2), latency.Text(3))
		}
	}
	plain, err := table.New("samples", []*table.Column{table.Ints("latency", "cycles", table.Measured, []int64{3}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := AssumedL1(plain); ok {
		t.Error("a measured latency rests on no assumption")
	}
	if same, err := AssumeL1(plain, 9); err != nil || same != plain {
		t.Error("a measured latency was changed")
	}
}
