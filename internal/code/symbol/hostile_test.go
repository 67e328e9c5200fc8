package symbol

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestClaims has headers that claim more than there is.
func TestClaims(t *testing.T) {
	order := binary.LittleEndian
	line := func(count ...byte) []byte {
		body := []byte{5, 0, 8, 0, 0, 0, 0, 0, 1, 1, 1, 0xfb, 14, 1}
		body = append(body, 0) // folders: no fields each
		body = append(body, count...)
		return append(order.AppendUint32(nil, uint32(len(body))), body...)
	}
	d := &debugInfo{order: order, line: line(0, 0, 0)}
	if err := checkLineHeader(d, 0); err != nil {
		t.Errorf("an empty header: %v", err)
	}
	d.line = line(0xff, 0xff, 0xff, 0xff, 3)
	if err := checkLineHeader(d, 0); err == nil {
		t.Error("a header with a billion folders of nothing is accepted")
	}
	if err := checkLineHeader(d, 1<<40); err == nil {
		t.Error("a header outside the section is accepted")
	}

	// One table after the other, the first with 30 000 abbreviations.
	table := append(bytes.Repeat([]byte{1, 0x11, 0, 0x03, 0x08, 0, 0}, 30_000), 0)
	every := func(step uint64) (out []uint64) {
		for at := uint64(0); at < uint64(len(table)); at += step {
			out = append(out, at)
		}
		return out
	}
	for _, tt := range []struct {
		name    string
		offsets []uint64
		err     string
	}{
		{"the same", []uint64{0, 0}, ""},
		{"a few that overlap", []uint64{0, 7, 70}, ""},
		{"all that overlap", every(7), "overlap too much"},
		{"outside", []uint64{0, 1 << 30}, "names byte"},
	} {
		var units []header
		for _, o := range tt.offsets {
			units = append(units, header{abbreviation: o})
		}
		err := checkAbbreviations(table, units)
		if (tt.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
		}
	}
	if _, err := scanUnits([]byte{0xff, 0, 0, 0, 4, 0}, order); err == nil {
		t.Error("a unit longer than its section is accepted")
	}
}

// TestSectionNames builds a file whose sections all have the same long name: the
// names alone would take many times the file.
func TestSectionNames(t *testing.T) {
	const sections, length = 4000, 100_000
	order := binary.LittleEndian
	file := make([]byte, 64, 64+sections*64+length+1)
	copy(file, elf.ELFMAG)
	file[elf.EI_CLASS], file[elf.EI_DATA], file[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	order.PutUint16(file[16:], uint16(elf.ET_EXEC))
	order.PutUint16(file[18:], uint16(elf.EM_X86_64))
	order.PutUint32(file[20:], 1)
	order.PutUint64(file[40:], 64)
	order.PutUint16(file[52:], 64)
	order.PutUint16(file[58:], 64)
	order.PutUint16(file[60:], sections)
	order.PutUint16(file[62:], 1)
	names := uint64(64 + sections*64)
	for i := range sections {
		h := make([]byte, 64)
		if i == 1 {
			order.PutUint32(h[4:], uint32(elf.SHT_STRTAB))
			order.PutUint64(h[24:], names)
			order.PutUint64(h[32:], length+1)
		}
		file = append(file, h...)
	}
	file = append(append(file, bytes.Repeat([]byte{'x'}, length)...), 0)
	if _, err := newImage(bytes.NewReader(file), int64(len(file))); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("error = %v", err)
	}
}

// TestSteps compares the innermost scope with a search through all ranges.
func TestSteps(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 7))
		var ranges []interval
		var nest func(low, high uint64, depth int)
		nest = func(low, high uint64, depth int) {
			ranges = append(ranges, interval{low, high, int32(len(ranges))})
			for at := low; depth < 4 && at < high; {
				from := at + r.Uint64N(6)
				to := from + 1 + r.Uint64N(12)
				if to > high {
					return
				}
				nest(from, to, depth+1)
				at = to
			}
		}
		for at := uint64(1); at < 200; at += 50 {
			nest(at, at+uint64(20+r.IntN(30)), 0)
		}
		u := &unit{code: steps(append([]interval(nil), ranges...))}
		for addr := range uint64(260) {
			want := int32(-1)
			for _, v := range ranges { // later ones are inside earlier ones
				if addr >= v.low && addr < v.high {
					want = v.item
				}
			}
			if got := u.scopeAt(addr); got != want {
				t.Fatalf("seed %d, address %d: scope %d, want %d", seed, addr, got, want)
			}
		}
	}
}

func FuzzKallsyms(f *testing.F) {
	f.Add("ffffffff81000000 T _stext\nffffffffc0000000 t probe [nvme]\n", uint64(0xffffffff81000010))
	f.Add("0 T x\n", uint64(0))
	f.Fuzz(func(t *testing.T, text string, addr uint64) {
		k, err := ReadKallsyms(strings.NewReader(text))
		if err != nil {
			return
		}
		if name, _, ok := k.Function(addr); ok && name == "" {
			t.Errorf("%#x is a function without a name", addr)
		}
	})
}
