package datasrc

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
)

// The words are ones that perf wrote on real machines, with the text it printed
// for them.
func TestPerf(t *testing.T) {
	tests := []struct {
		word uint64
		want Access
	}{
		{0x68100142, Access{Op: Load, Level: hw.L1, Hit: HitLevel, Snoop: SnoopNone, TLB: TLBHit, Lock: Unlocked}},
		{0x6a100142, Access{Op: Load, Level: hw.L1, Hit: HitLevel, Snoop: SnoopNone, TLB: TLBHit, Lock: Locked}},
		{0x10268100142, Access{Op: Load, Level: hw.L1, Hit: HitLevel, Snoop: SnoopNone, TLB: TLBHit, Lock: Unlocked}},
		{0x11868100242, Access{Op: Load, Level: hw.LFB, Hit: HitLevel, Snoop: SnoopNone, TLB: TLBHit, Lock: Unlocked}},
		{0x10468100442, Access{Op: Load, Level: hw.L2, Hit: HitLevel, Snoop: SnoopNone, TLB: TLBHit, Lock: Unlocked}},
		{0x10668100842, Access{Op: Load, Level: hw.L3, Hit: HitLevel, Snoop: SnoopNone, TLB: TLBHit, Lock: Unlocked}},
		{0x10650100842, Access{Op: Load, Level: hw.L3, Hit: HitLevel, Snoop: SnoopNone, TLB: TLBMiss, Lock: Unlocked}},
		{0x629800842, Access{Op: Load, Level: hw.L3, Hit: HitLevel, Snoop: SnoopHitM, TLB: TLBL1, Lock: 0}},
		{0x8688000842, Access{Op: Load, Level: hw.L3, Hit: HitLevel, Snoop: SnoopPeer, TLB: TLBWalk, Lock: Unlocked}},
		{0x88000182, Access{Op: Load, Level: hw.BeyondL1, Hit: Miss, TLB: TLBWalk, Lock: Unlocked}},
		{0x51088842, Access{Op: Load, Level: hw.RemoteCache, Hit: HitLevel, Hops: hw.OneHop, TLB: TLBMiss, Ambiguous: true}},
		{0x1a49081042, Access{Op: Load, Level: hw.LocalRAM, Hit: HitLevel, TLB: TLBL2}},
		{0x229080144, Access{Op: Store, Level: hw.L1, Hit: HitLevel, TLB: TLBL1}},
		{0x1e29080024, Access{Op: Store, TLB: TLBL1}},
		{0x5080021, Access{}},
		{0x1e05080021, Access{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, Perf(tt.word)); diff != "" {
			t.Errorf("Perf(%#x): %s", tt.word, diff)
		}
	}
}

func TestPEBS(t *testing.T) {
	tests := []struct {
		word uint64
		want Access
	}{
		{20, Access{Op: Load, Level: hw.L3, Snoop: SnoopNone, TLB: TLBMiss, Lock: Unlocked}},
		{64, Access{Op: Load, Level: hw.BeyondL3, TLB: TLBHit, Lock: Unlocked}},
		{33, Access{Op: Load, Level: hw.L1, TLB: TLBHit, Lock: Locked}},
		{0xb, Access{Op: Load, Level: hw.RemoteRAM, TLB: TLBHit, Lock: Unlocked}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, PEBS(tt.word)); diff != "" {
			t.Errorf("PEBS(%d): %s", tt.word, diff)
		}
	}
}

func TestColumnsSayWhatIsAbsent(t *testing.T) {
	c := NewColumns(2)
	c.Append(Access{Op: Load})
	c.Append(Access{Op: Store})
	got := map[string]table.Provenance{}
	for _, col := range c.Table(table.Measured) {
		got[col.Name] = col.Provenance
	}
	want := map[string]table.Provenance{"op": table.Measured, "level": 0, "hit": 0, "remote": 0, "hops": 0, "snoop": 0, "tlb": 0, "lock": 0}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
