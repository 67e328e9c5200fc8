package spe

import (
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/code/spe/packets"
)

func decode(b []byte, piece int) (out []Record, bad int) {
	var d Decoder
	for len(b) > 0 {
		n := min(piece, len(b))
		d.Decode(b[:n], func(r *Record) { out = append(out, *r) })
		b = b[n:]
	}
	return out, d.Bad
}

func TestGolden(t *testing.T) {
	all := packets.Bytes(packets.Load + packets.Branch + packets.Altra)
	const timed = HasTime | HasOp | HasEvents | HasIssue | HasTotal
	want := []Record{
		{PC: 0xffffba66eda1c2d0, EL: 2, VA: 0xffff0e3703096b28, Events: 1<<1 | 1<<2 | 1<<4, Issue: 4, Total: 12, Translation: 1, Class: 1, Context: 0x5f80, Time: 44731163950,
			Has: timed | HasPC | HasVA | HasTranslation | HasSource | HasContext},
		{PC: 0xffffba66edefb0e0, EL: 2, Target: 0xffffba66edefb0e4, Events: 1<<1 | 1<<6, Issue: 16, Total: 17, Class: 2, Op: 1, Context: 0xe, Time: 44731164045,
			Has: timed | HasPC | HasTarget | HasContext},
		{VA: 0xffff403ef1d79e50, PA: 0x403f71d79e50, Events: 0x31e, Issue: 337, Total: 501, Translation: 1, Source: 12, Class: 1, Time: 7966055570099,
			Has: timed | HasVA | HasPA | HasTranslation | HasSource},
	}
	for _, piece := range []int{len(all), 1, 7, 64} {
		got, bad := decode(all, piece)
		if diff := gocmp.Diff(want, got); diff != "" || bad != 0 {
			t.Errorf("in pieces of %d: %d bad bytes\n%s", piece, bad, diff)
		}
	}
	if got, _ := decode(packets.Bytes("ab cd ef ff 99 88 77 66 55 44"), 10); len(got) != 0 {
		t.Errorf("garbage gives records: %+v", got)
	}
}

func TestLevels(t *testing.T) {
	for _, tt := range []struct {
		name string
		midr uint64
		rec  Record
		want string
	}{
		{"neoverse l1", 0x410fd0c0, Record{Has: HasSource, Source: 0}, "load L1 none"},
		{"neoverse dram", 0x410fd0c0, Record{Has: HasSource, Source: 0xe}, "load Local RAM none"},
		{"neoverse remote", 0x410fd4f0, Record{Has: HasSource, Source: 0xd}, "load Remote Cache peer"},
		{"ampereone ddr", 0xc00fac30, Record{Has: HasSource, Source: 7}, "load Local RAM none"},
		{"hisilicon, modified elsewhere", 0x480fd060, Record{Has: HasSource, Source: 7}, "load Remote Cache hit modified"},
		{"unknown maker, by events", 0x610f0000, Record{Has: HasSource | HasEvents, Source: 7, Events: L1DAccess | L1DRefill}, "load Beyond L1 "},
		{"last level missed", 0, Record{Has: HasEvents, Events: L1DAccess | L1DRefill | LLCAccess | LLCMiss}, "load Beyond L3 "},
		{"store has no source", 0x410fd0c0, Record{Has: HasSource | HasEvents, Op: 1, Events: L1DAccess}, "store L1 "},
	} {
		a := tt.rec.Access(Sources(tt.midr))
		if got := datasrc.OpNames[a.Op] + " " + a.Level.String() + " " + datasrc.SnoopNames[a.Snoop]; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// FuzzDecode decodes arbitrary packets, whole and in pieces: both must give the
// same records.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{packets.Load, packets.Branch, packets.Altra, "ab cd ef ff 99 88 77 66 55 44", "20 b8 01 02 03 04 05 06 07 08 01"} {
		f.Add(packets.Bytes(s), 3)
	}
	f.Fuzz(func(t *testing.T, data []byte, piece int) {
		if piece < 1 || piece > 1<<20 || len(data) > 1<<16 {
			return
		}
		whole, bad := decode(data, len(data)+1)
		parts, badParts := decode(data, piece)
		if len(whole) != len(parts) || bad != badParts {
			t.Fatalf("%d records and %d bad bytes whole, %d and %d in pieces of %d", len(whole), bad, len(parts), badParts, piece)
		}
		for i := range whole {
			if whole[i] != parts[i] {
				t.Fatalf("record %d is %+v whole, %+v in pieces", i, whole[i], parts[i])
			}
			whole[i].Access(Sources(0x410fd0c0))
		}
	})
}
