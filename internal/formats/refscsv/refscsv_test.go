package refscsv

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

const sample = `seq,op,addr,size,pc,func,file,line
0,S,0x1fff0005b8,8,0x131a,main,bubble_vector.cpp,21
1,L,0x1fff0005b0,8,0x11a9,"sort(std::vector<int, std::allocator<int> >&)",bubble_vector.cpp,5
2,M,40,4,0x11a9,"sort(std::vector<int, std::allocator<int> >&)",bubble_vector.cpp,5
`

func TestRead(t *testing.T) {
	r := NewReader(strings.NewReader(sample))
	got, err := refs.All(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []refs.Ref{
		{Addr: 0x1fff0005b8, PC: 0x131a, Size: 8, Op: refs.Store, Place: 1},
		{Addr: 0x1fff0005b0, PC: 0x11a9, Size: 8, Op: refs.Load, Place: 2},
		{Addr: 40, PC: 0x11a9, Size: 4, Op: refs.Modify, Place: 2},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	places := []refs.Place{{}, {Function: "main", File: "bubble_vector.cpp", Line: 21},
		{Function: "sort(std::vector<int, std::allocator<int> >&)", File: "bubble_vector.cpp", Line: 5}}
	if d := cmp.Diff(places, r.About().Places); d != "" {
		t.Error(d)
	}
	if has := r.About().Has; has != refs.HasPC|refs.HasSize|refs.HasPlace {
		t.Errorf("Has = %b", has)
	}
}

func TestColumnsInAnyOrder(t *testing.T) {
	got, err := refs.All(NewReader(strings.NewReader("addr,thread,op,colour\n16,7,w,red\n")))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]refs.Ref{{Addr: 16, Thread: 7, Op: refs.Store}}, got); d != "" {
		t.Error(d)
	}
}

func TestObjects(t *testing.T) {
	const text = "seq,op,addr,object,offset\n0,L,0x1010,\"a, b\",16\n1,S,0x2000,stack,0\n2,L,0x1020,\"a, b\",32\n3,L,0x9000,,\n"
	r := NewReader(strings.NewReader(text))
	got, err := refs.All(r)
	if err != nil {
		t.Fatal(err)
	}
	want := []refs.Ref{{Addr: 0x1010, Object: 1}, {Addr: 0x2000, Op: refs.Store, Object: 2}, {Addr: 0x1020, Object: 1}, {Addr: 0x9000}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]refs.Object{{}, {Name: "a, b", Start: 0x1000}, {Name: "stack", Start: 0x2000}}, r.About().Objects); d != "" {
		t.Error(d)
	}
	var out bytes.Buffer
	if err := Write(&out, NewReader(strings.NewReader(text))); err != nil || out.String() != text {
		t.Errorf("written: %q, %v", out.String(), err)
	}
}

func TestErrors(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", "the file is empty"},
		{"no op", "seq,addr\n", "no op and addr"},
		{"twice", "op,addr,op\n", `"op" appears twice`},
		{"bad op", "op,addr\nQ,1\n", `line 2: op "Q": want L, S or M`},
		{"bad number", "op,addr\nL,0xzz\n", `line 2: addr "0xzz"`},
		{"few columns", "op,addr,size\nL,1\n", "line 2: 2 columns, the header has 3"},
		{"many columns", "op,addr\nL,1,2\n", "line 2: more columns"},
		{"open quote", "op,addr,func\nL,1,\"f\n", "the quote is not closed"},
		{"size too large", "op,addr,size\nL,1,99999999999\n", "line 2: size"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := refs.All(NewReader(strings.NewReader(tt.in)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q", err, tt.want)
			}
		})
	}
}

// TestNamesOfSamples: a trace whose columns have the names of samples is the same.
func TestNamesOfSamples(t *testing.T) {
	got, err := refs.All(NewReader(strings.NewReader("op,address,size,ip,tid\nR,0x1000,8,0x400,1\nW,0x1008,4,0x404,2\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := []refs.Ref{{Addr: 0x1000, PC: 0x400, Size: 8, Op: refs.Load, Thread: 1}, {Addr: 0x1008, PC: 0x404, Size: 4, Op: refs.Store, Thread: 2}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		sample: true, "op,addr\n": true, "\xef\xbb\xbfseq,op,addr\n": true,
		"time,cpu,op,addr,latency\n": false, "seq,addr\n": false, "": false,
		"op,address,size,ip,tid\n": true, "tid,op,addr,pc,symbol\n": true,
		"op,address,ip,tid,symbol\n": false, // samples may be no more than that
		"op,addr,address,size\n":     false,
	} {
		if got := Format.Sniff(&foreign.Input{Head: []byte(head)}); got != want {
			t.Errorf("Sniff(%q) = %v, want %v", head, got, want)
		}
	}
}

func TestWriteReadsBack(t *testing.T) {
	in := "seq,thread,op,addr,size,pc,func,file,line\n0,3,L,0x10,8,0x4,\"f(a, \"\"b\"\")\",x.c,7\n1,3,S,0x18,8,0x8,g,x.c,9\n"
	var out bytes.Buffer
	if err := Write(&out, NewReader(strings.NewReader(in))); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(in, out.String()); d != "" {
		t.Error(d)
	}
}

func TestShared(t *testing.T) {
	tests := []struct {
		file                     string
		records, l, s, m, pcs, a int
	}{
		{"bubble_vector_sorted.csv", 183, 121, 58, 4, 44, 18},
		{"bubble_vector_reverse.csv", 1068, 653, 401, 14, 76, 24},
		{"bubble_array_shuffled.csv", 378, 249, 116, 13, 54, 21},
		{"matmul_standard.csv", 983, 811, 88, 84, 26, 53},
		{"matmul12.csv.gz", 26710, -1, -1, 0, 29, 437},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			r, _, err := foreign.List{Format}.OpenRefs(test.Fixture(t, "refs/traces/"+tt.file))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			c, err := refs.Count(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if int(c.Records) != tt.records || c.Symbols != tt.pcs || c.Addresses != tt.a || int(c.Modifies) != tt.m {
				t.Errorf("counts = %+v, want %+v", c, tt)
			}
			if tt.l >= 0 && (int(c.Loads) != tt.l || int(c.Stores) != tt.s) {
				t.Errorf("loads, stores = %d, %d, want %d, %d", c.Loads, c.Stores, tt.l, tt.s)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("op,addr,func,file,line\nL,1,\"\"\"\",\"a,b\",\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(bytes.NewReader(in))
		all, err := refs.All(r)
		if err != nil {
			return
		}
		for _, ref := range all {
			if int(ref.Place) >= len(r.About().Places) {
				t.Fatalf("place %d of %d", ref.Place, len(r.About().Places))
			}
		}
		// What was read is written and read again without loss.
		var out bytes.Buffer
		if err := Write(&out, NewReader(bytes.NewReader(in))); err != nil {
			t.Fatal(err)
		}
		again, err := refs.All(NewReader(&out))
		if err != nil || len(again) != len(all) {
			t.Fatalf("read back %d of %d: %v", len(again), len(all), err)
		}
	})
}
