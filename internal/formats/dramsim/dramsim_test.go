package dramsim

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

func TestRead(t *testing.T) {
	tests := []struct {
		name, in string
		want     []refs.Ref
	}{
		{"DRAMsim3", "0x2000D5C0 READ  30\n0x40 WRITE 31\n", []refs.Ref{{Addr: 0x2000d5c0}, {Addr: 0x40, Op: refs.Store}}},
		{"load/store", "LD 0x12340\nST 4096\n", []refs.Ref{{Addr: 0x12340}, {Addr: 4096, Op: refs.Store}}},
		{"read/write", "R 0,1,2,100,32\nW 0,1,2,100,33\nR 0,1,2,100,32\n",
			[]refs.Ref{{Addr: 0}, {Addr: 64, Op: refs.Store}, {Addr: 0}}},
		{"SimpleO3", "3 20734016\n0 20734080 64\n", []refs.Ref{{Addr: 20734016}, {Addr: 20734080}, {Addr: 64, Op: refs.Store}}},
		{"comments", "# made by hand\n\nLD 1\n", []refs.Ref{{Addr: 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := refs.All(NewReader(strings.NewReader(tt.in)))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for in, want := range map[string]string{
		"hello\n":           "line 1: \"hello\" is neither",
		"LD 1\nR 0,1\n":     "line 2: \"R 0,1\" is not a line of a Ramulator load/store trace",
		"0x40 READ 1\nLD 1": "not a line of a DRAMsim3 trace",
	} {
		if _, err := refs.All(NewReader(strings.NewReader(in))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error = %v, want %q", in, err, want)
		}
	}
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		"0x2000D5C0 READ  30\n":                true,
		"ST 4096\n":                            true,
		"R 0,1,2\n":                            true,
		"1 2\n":                                false, // too little to go by
		"3 20734016\n1 64\n0 128 64\n9 4096\n": true,
		"0x10: R 0x20\n":                       false,
		"":                                     false,
		"1 2\n3 4\n5 6\nx\n":                   false,
	} {
		if got := Format.Sniff(&foreign.Input{Head: []byte(head)}); got != want {
			t.Errorf("Sniff(%q) = %v, want %v", head, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("0x2000D5C0 READ  30\n"))
	f.Add([]byte("R 0,1,2,100,32\nW 1\n"))
	f.Add([]byte("3 20734016 64\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		all, _ := refs.All(NewReader(strings.NewReader(string(in))))
		if len(all) > len(in) {
			t.Fatalf("%d references from %d bytes", len(all), len(in))
		}
	})
}
