package symbol

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkColumns names the code and data of a million samples in order of
// time: a thousand instructions, two hundred mappings that come and go.
func BenchmarkColumns(b *testing.B) {
	const rows = 1_000_000
	program := compile(b, "heat.c", heatC, "-g", "-O2", "-no-pie")
	binary, err := Open(program)
	if err != nil {
		b.Fatal(err)
	}
	low, high, err := binary.Function("step")
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	space := &Space{}
	mapProgram(space, binary, 1, 0)
	for i := range uint64(200) {
		space.Map(1, i*(rows/200), Mapping{Start: 0x7f0000000000 + i<<24, End: 0x7f0000000000 + i<<24 + 1<<20, Path: "//anon"})
	}
	s := &Samples{Rows: rows, Pid: make([]int32, rows), Time: make([]uint64, rows), PC: make([]uint64, rows), Addr: make([]uint64, rows)}
	for i := range rows {
		s.Pid[i], s.Time[i] = 1, uint64(i)
		s.PC[i] = low + r.Uint64N(high-low)
		s.Addr[i] = 0x7f0000000000 + r.Uint64N(200)<<24 + r.Uint64N(1<<20)
	}
	for b.Loop() {
		files := &Files{}
		columns, err := NewResolver(space, files, nil).Columns(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		if len(columns) < 8 {
			b.Fatal(fmt.Sprint(len(columns), " columns"))
		}
		files.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
