package delimited

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func read(t testing.TB, text string, opt Options) *Result {
	t.Helper()
	if opt.Comma == 0 {
		opt.Comma = ','
	}
	if opt.Names == nil {
		line, _ := cutLine([]byte(text))
		opt.Names = Header(line, opt.Comma)
		opt.Skip = len(line) + 1
	}
	opt.FirstLine = 2
	r, err := Read(context.Background(), []byte(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// cells writes a result back as text, so that tests can compare it at a glance.
func cells(r *Result) []string {
	var out []string
	for row := range r.Rows {
		var line []string
		for _, c := range r.Columns {
			cell := "-"
			if c.Type != Empty && (c.Valid == nil || c.Valid[row>>6]>>(row&63)&1 != 0) {
				switch c.Type {
				case Int:
					cell = fmt.Sprint(c.Words[row])
					if c.Negative {
						cell = fmt.Sprint(int64(c.Words[row]))
					}
				case Hex:
					cell = fmt.Sprintf("%#x", c.Words[row])
				case Float:
					cell = fmt.Sprint(c.Floats[row])
				case Text:
					cell = c.Names[c.Codes[row]]
				}
			}
			line = append(line, cell)
		}
		out = append(out, strings.Join(line, " "))
	}
	return out
}

func TestColumnTypes(t *testing.T) {
	tests := []struct {
		name string
		text string
		want []string
	}{
		{"decimal", "a\n1\n18446744073709551615\n", []string{"1", "18446744073709551615"}},
		{"negative", "a\n1\n-5\n", []string{"1", "-5"}},
		{"hex by one letter", "a\n404040\n40404a\n", []string{"0x404040", "0x40404a"}},
		{"hex with an exponent-like cell", "a\n12e4\nab1c\n", []string{"0x12e4", "0xab1c"}},
		{"hex with a word-like cell", "a\n1\nadd\na0\n", []string{"0x1", "0xadd", "0xa0"}},
		{"instructions", "a\nadd\ndec\n", []string{"add", "dec"}},
		{"exponent alone", "a\n12e4\n5\n", []string{"120000", "5"}},
		{"prefix", "a\n0x10\n20\n", []string{"0x10", "0x20"}},
		{"float", "a\n1\n2.5\n", []string{"1", "2.5"}},
		{"beyond 64 bits", "a\n1\n18446744073709551616\n", []string{"1", "1.8446744073709552e+19"}},
		{"text", "a\n1\nx y\n", []string{"1", "x y"}},
		{"nulls", "a,b\n??,(null)\nN/A,\nNot Available,3\n", []string{"- -", "- -", "- 3"}},
		{"quotes", "a,b\n\"x, \"\"y\"\"\",2\n", []string{`x, "y" 2`}},
		{"crlf, blank lines, no final newline", "a,b\r\n1, 2\r\n\r\n3,4", []string{"1 2", "3 4"}},
		{"line ends in quotes", "a,b,c\n1,\"x\ny\",2\r\n3,\"\"\"p\"\"\r\n\nq\",4\n5,z,\"last\"\r\n", []string{"1 x\ny 2", "3 \"p\"\r\n\nq 4", "5 z last"}},
		{"a quote that nothing closes", "a,b\n1,\"x\n2,y\n3,z\n", []string{"1 x", "2 y", "3 z"}},
		{"empty", "a,b\n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, cells(read(t, tt.text, Options{Omitted: -1}))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Rows with line ends inside are not torn apart where a file is divided, and
// problems still name their line.
func TestQuotedLineEndsInLargeFile(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b\n")
	const rows = 60_000
	for i := range rows {
		fmt.Fprintf(&b, "%d,\"first of %d\nsecond\"\n", i, i)
	}
	b.WriteString("1,2,3\n")
	r := read(t, b.String(), Options{Omitted: -1, FirstLine: 2})
	if r.Rows != rows || r.Skipped != 1 || r.Columns[0].Type != Int || r.Columns[1].Names[r.Columns[1].Codes[rows-1]] != fmt.Sprintf("first of %d\nsecond", rows-1) {
		t.Errorf("%d rows, %d skipped", r.Rows, r.Skipped)
	}
	if len(r.Problems) != 1 || r.Problems[0].Line != 2+2*rows {
		t.Errorf("problems %v, want line %d", r.Problems, 2+2*rows)
	}
}

func TestAskedTypes(t *testing.T) {
	r := read(t, "a,b,c\n1,10,7\nx,20,zz\n", Options{Omitted: -1, Types: []Type{Int, Hex, Number}})
	if diff := cmp.Diff([]string{"1 0x10 7", "- 0x20 -"}, cells(r)); diff != "" {
		t.Error(diff)
	}
	if r.Columns[0].Bad != 1 || r.Columns[2].Bad != 1 {
		t.Errorf("bad cells: %d and %d, want 1 and 1", r.Columns[0].Bad, r.Columns[2].Bad)
	}
}

func TestLateSurprise(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,b\n")
	for i := range 3 * guessRows {
		fmt.Fprintf(&b, "%d,%d\n", i, i)
	}
	b.WriteString("f0,word\n")
	r := read(t, b.String(), Options{Omitted: -1})
	if r.Columns[0].Type != Hex || r.Columns[0].Words[10] != 0x10 || r.Columns[1].Type != Text || r.Columns[1].Names[r.Columns[1].Codes[10]] != "10" {
		t.Errorf("types %d and %d; the column must be read again as a whole", r.Columns[0].Type, r.Columns[1].Type)
	}
}

func TestRepairs(t *testing.T) {
	t.Run("omitted column", func(t *testing.T) {
		r := read(t, "a,b,c\n1,3\n4,6\n", Options{Omitted: 1})
		if diff := cmp.Diff([]string{"1 - 3", "4 - 6"}, cells(r)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("comma inside a name", func(t *testing.T) {
		r := read(t, "s,n,v\ns.c,1,x\nf(a, b),2,y\nt.c,3,z\n", Options{Omitted: -1, Absorb: []int{0, 2}})
		if diff := cmp.Diff([]string{"s.c 1 x", "f(a,b) 2 y", "t.c 3 z"}, cells(r)); diff != "" || r.Repaired != 1 {
			t.Errorf("repaired %d: %s", r.Repaired, diff)
		}
	})
	t.Run("broken line", func(t *testing.T) {
		r := read(t, "a,b,c,d\n1,Load,\nN/A,2\n3,Load,\r\nx,4\r\n5,Load,y,6\n", Options{Omitted: -1, JoinLines: true})
		if diff := cmp.Diff([]string{"1 Load - 2", "3 Load x 4", "5 Load y 6"}, cells(r)); diff != "" || r.Repaired != 2 {
			t.Errorf("repaired %d: %s", r.Repaired, diff)
		}
	})
	t.Run("skipped", func(t *testing.T) {
		r := read(t, "a,b\n1,2\n3\n4,5,6\n7,8\n", Options{Omitted: -1})
		want := []Problem{{3, "1 fields, want 2"}, {4, "3 fields, want 2"}}
		if diff := cmp.Diff(want, r.Problems); diff != "" || r.Skipped != 2 || r.Rows != 2 {
			t.Errorf("%d rows, %d skipped: %s", r.Rows, r.Skipped, diff)
		}
	})
}

// TestParallel compares many chunks with the reader of the standard library.
func TestParallel(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("n,s,f,h\n")
	for range 60000 {
		word := [...]string{"m_x", "??", "a b", "\"q, r\""}[rng.IntN(4)]
		fmt.Fprintf(&b, "%d,%s,%.3f,%x\n", rng.Uint64(), word, rng.Float64(), rng.Uint32())
	}
	r := read(t, b.String(), Options{Omitted: -1})
	want, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows != len(want)-1 {
		t.Fatalf("%d rows, want %d", r.Rows, len(want)-1)
	}
	for i, got := range cells(r) {
		w := want[i+1]
		if w[1] == "??" {
			w[1] = "-"
		}
		f := strings.TrimRight(w[2], "0")
		if line := w[0] + " " + w[1] + " " + strings.TrimSuffix(f, ".") + " 0x" + w[3]; got != line {
			t.Fatalf("row %d: %q, want %q", i, got, line)
		}
	}
}

func TestCopyBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n, at := rng.IntN(300), rng.IntN(200)
		src := make([]uint64, n/64+1)
		for i := range src {
			src[i] = rng.Uint64()
		}
		dst := make([]uint64, (at+n)/64+2)
		copyBits(dst, at, src, n)
		for i := range n {
			if dst[(at+i)>>6]>>((at+i)&63)&1 != src[i>>6]>>(i&63)&1 {
				t.Fatalf("bit %d of %d copied to %d differs", i, n, at)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("a,b\n1,2\n"), byte(','), true)
	f.Add([]byte("a\tb\nx\t0x3\n\"q\"\"\t1"), byte('\t'), false)
	f.Fuzz(func(t *testing.T, in []byte, comma byte, join bool) {
		line, _ := cutLine(in)
		names := Header(line, comma)
		r, err := Read(context.Background(), in, Options{Comma: comma, Names: names, Skip: min(len(line)+1, len(in)),
			Omitted: len(names) - 1, JoinLines: join, Absorb: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(in, []byte("\n")) + 1; r.Rows > lines {
			t.Fatalf("%d rows from %d lines", r.Rows, lines)
		}
		cells(r)
	})
}

func BenchmarkRead(b *testing.B) {
	var text strings.Builder
	text.WriteString("source,line,ip,time,addr,cpu,latency,level\n")
	for i := range 100000 {
		fmt.Fprintf(&text, "src/relax.c,%d,%d,%d,%d,%d,%d,Local RAM\n", i%300, 4198400+i%500*4, 6045777543909725+uint64(i)*300, 140737488355328+i*64, i%24, i%900)
	}
	data := []byte(text.String())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		read(b, string(data), Options{Omitted: -1})
	}
}
