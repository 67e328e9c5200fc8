// Package mitoscsv writes realistic Mitos sample files of any size: the 24
// columns of the current writer, with sources, variables, levels and latencies
// in the proportions of a stencil code on a two-socket machine.
package mitoscsv

import (
	"bufio"
	"io"
	"math/rand/v2"
	"strconv"
)

const header = "source,line,instruction,bytes,virt_addr_offset,ip,variable,buffer_size,dims,xidx,yidx,zidx,pid,tid,time,addr,cpu,latency,level,hit_type,op_type,snoop_mode,tlb_access,numa\n"

var (
	sources      = []string{"src/relax_jacobi.c", "src/halo.c", "src/residual.c", "src/main.c", "src/io/output.c"}
	instructions = []string{"movsd", "mov", "movapd", "mulsd", "addsd", "vmovupd", "cmp"}
	variables    = []string{"u", "unew", "rhs", "coef", "material", "??"}
	levels       = []level{
		{"L1", 0.55, 5}, {"LFB", 0.12, 30}, {"L2", 0.14, 14}, {"L3", 0.1, 45}, {"Local RAM", 0.06, 210}, {"Remote RAM 1 Hop", 0.03, 380},
	}
)

// level is where a share of the samples is served, and the cycles that takes at
// least.
type level struct {
	name  string
	share float64
	base  int
}

// Write writes a header and n samples. The same n and seed give the same bytes.
func Write(w io.Writer, n int, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 24))
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString(header)
	clock := uint64(6045777543909725)
	var line []byte
	for range n {
		clock += uint64(200 + rng.IntN(4000))
		line = sample(line[:0], rng, clock)
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}

func sample(b []byte, rng *rand.Rand, clock uint64) []byte {
	text := func(s string) { b = append(append(b, s...), ',') }
	number := func(v uint64) { b = append(strconv.AppendUint(b, v, 10), ',') }
	// A few lines take most samples, as in real programs.
	hot := int(rng.ExpFloat64() * 12)
	line := hot % 300
	text(sources[line%len(sources)])
	number(uint64(20 + line))
	text(instructions[line%len(instructions)])
	text("8")
	number(93992958115840)
	number(93992958115840 + uint64(line)*16)
	symbol := rng.IntN(len(variables))
	text(variables[symbol])
	number(8)
	number(3)
	x, y, z := rng.IntN(256), rng.IntN(256), rng.IntN(256)
	if variables[symbol] == "??" {
		x, y, z = 0, 0, 0
	}
	number(uint64(x))
	number(uint64(y))
	number(uint64(z))
	cpu := rng.IntN(48)
	number(24511)
	number(uint64(24511 + cpu))
	number(clock)
	number(140000000000000 + uint64(symbol)<<32 + uint64((z*256+y)*256+x)*8)
	number(uint64(cpu))
	level := pickLevel(rng)
	number(uint64(level.base + int(rng.ExpFloat64()*float64(level.base)/4)))
	text(level.name)
	text("Hit")
	text("Load")
	text("Snoop None")
	text("TLB Hit")
	return append(b, "0\n"...)
}

func pickLevel(rng *rand.Rand) level {
	u := rng.Float64()
	for _, l := range levels {
		if u < l.share {
			return l
		}
		u -= l.share
	}
	return levels[len(levels)-1]
}
