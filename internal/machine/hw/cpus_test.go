package hw

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCPUs(t *testing.T) {
	tests := []struct {
		in, want string
		bad      bool
	}{
		{"", "", false},
		{"0-3,8", "0-3,8", false},
		{" 8,0-2,1-3\n", "0-3,8", false},
		{"5-2", "", true},
		{"1,,2", "", true},
		{"-1", "", true},
		{"0-4294967295", "", true},
		{"0-99999", "", true},
		{"1048576", "", true},
		{"0x1", "", true},
	}
	for _, tt := range tests {
		got, err := ParseCPUs(tt.in)
		if got.String() != tt.want || (err != nil) != tt.bad {
			t.Errorf("ParseCPUs(%q) = %q, %v; want %q, error %v", tt.in, got, err, tt.want, tt.bad)
		}
	}
}

func TestParseBitmap(t *testing.T) {
	tests := []struct {
		in, want string
		bad      bool
	}{
		{"0x0", "", false},
		{"0x0000000f", "0-3", false},
		{"0x00000800,,,,,,,,,0x0", "299", false},
		{"0x1,0x80000000", "31-32", false},
		{"00000000,00000003", "0-1", false},
		{"0xf...f", "", true},
		{"0x1ffffffff", "", true},
		{strings.Repeat(",", 1<<20), "", true},
	}
	for _, tt := range tests {
		got, err := ParseBitmap(tt.in)
		if got.String() != tt.want || (err != nil) != tt.bad {
			t.Errorf("ParseBitmap(%.40q) = %q, %v; want %q, error %v", tt.in, got, err, tt.want, tt.bad)
		}
	}
}

func FuzzParseCPUs(f *testing.F) {
	for _, s := range []string{"0-3,8", "0-4294967295", "7", "", "1,1,1", "0-65535,0-65535"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		set, err := ParseCPUs(s)
		if err != nil {
			return
		}
		again, err := ParseCPUs(set.String())
		if err != nil || !slices.Equal(set, again) {
			t.Errorf("ParseCPUs(%q) = %v, which reads back as %v, %v", s, set, again, err)
		}
	})
}

func FuzzParseBitmap(f *testing.F) {
	for _, s := range []string{"0x0000000f", "0x00000800,,,,0x0", "0xf...f", ","} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		set, err := ParseBitmap(s)
		if err == nil && !slices.IsSorted(set) {
			t.Errorf("ParseBitmap(%q) = %v, not sorted", s, set)
		}
	})
}

// FuzzStored reads descriptions as runs store them.
func FuzzStored(f *testing.F) {
	f.Add([]byte(`{"version":1,"objects":[{"type":"CPU","os":0,"cpus":"0"},{"type":"L3","cpus":"0-9"},{"type":"NUMA","os":3,"cpus":""}],"distances":{"unit":"ns","nodes":[3],"values":[1]}}`))
	f.Add([]byte(`{"version":2,"hosts":[{"name":"a","machine":0},{"name":"b","machine":0}],"machines":[{"version":1,"objects":[{"type":"CPU","os":0,"cpus":"0"}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var topo Topology
		if topo.UnmarshalJSON(data) != nil {
			return
		}
		p := NewPlacer(&topo)
		c := NewCoder(p)
		c.Code(p.Place(topo.Root().CPUs[0], Access{Level: RemoteCache, Home: -1}))
		if err := Fold(c, []Count{{Samples: 1}}).Check(); err != nil {
			t.Error(err)
		}
	})
}
