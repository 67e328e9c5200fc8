package gem5

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

func message(fields ...uint64) []byte {
	var m []byte
	for i := 0; i < len(fields); i += 2 {
		m = binary.AppendUvarint(binary.AppendUvarint(m, fields[i]<<3), fields[i+1])
	}
	return append(binary.AppendUvarint(nil, uint64(len(m))), m...)
}

func text(field uint64, s string) []byte {
	m := binary.AppendUvarint(nil, field<<3|2)
	m = append(binary.AppendUvarint(m, uint64(len(s))), s...)
	return append(binary.AppendUvarint(nil, uint64(len(m))), m...)
}

var sample = bytes.Join([][]byte{
	[]byte(magic),
	text(1, "system.monitor"),
	message(1, 1000, 2, cmdReadReq, 3, 0x1000, 4, 8, 7, 0x400),
	message(1, 1500, 2, cmdReadReq, 3, 0x400, 4, 64, 5, flagFetch),
	message(1, 2000, 2, cmdWriteReq, 3, 0x2000, 4, 4, 7, 0x404),
	message(1, 2500, 2, 5, 3, 0x2000),
}, nil)

func TestRead(t *testing.T) {
	r := NewReader(bytes.NewReader(sample))
	got, err := refs.All(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []refs.Ref{{Addr: 0x1000, PC: 0x400, Size: 8}, {Addr: 0x2000, PC: 0x404, Size: 4, Op: refs.Store}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if a := r.About(); a.Skipped != 1 || a.Instructions != 1 || a.Has&refs.HasPC == 0 {
		t.Errorf("about = %+v", a)
	}
}

func TestNoPC(t *testing.T) {
	r := NewReader(bytes.NewReader(append([]byte(magic+"\x00"), message(2, cmdReadReq, 3, 64)...)))
	if _, err := refs.All(r); err != nil {
		t.Fatal(err)
	}
	if r.About().Has&refs.HasPC != 0 {
		t.Error("a trace without pc says it has one")
	}
}

func TestRefusals(t *testing.T) {
	for want, in := range map[string]string{
		"not with":      "gem4",
		"is cut":        string(sample[:len(sample)-2]),
		"more than":     magic + "\xff\xff\xff\xff\x7f",
		"does not fit":  magic + "\x00\x02\x1a\x7f",
		"bad field key": magic + "\x00\x01\xff",
	} {
		if _, err := refs.All(NewReader(strings.NewReader(in))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error = %v, want %q", in, err, want)
		}
	}
	if !Format.Sniff(&foreign.Input{Head: sample}) || Format.Sniff(&foreign.Input{Head: []byte("gem")}) {
		t.Error("Sniff is wrong")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(sample)
	f.Add(sample[:20])
	f.Fuzz(func(t *testing.T, in []byte) {
		all, _ := refs.All(NewReader(bytes.NewReader(in)))
		if len(all) > len(in) {
			t.Fatalf("%d references from %d bytes", len(all), len(in))
		}
	})
}
