package synth

import (
	"bufio"
	"io"
	"strconv"
)

// mitosHeader is the header of a Mitos file of 24 columns.
const mitosHeader = "source,line,instruction,bytes,virt_addr_offset,ip,variable,buffer_size,dims,xidx,yidx,zidx," +
	"pid,tid,time,addr,cpu,latency,level,hit_type,op_type,snoop_mode,tlb_access,numa\n"

var (
	sources      = []string{"src/lulesh.cc", "src/lulesh-comm.cc", "src/lulesh-util.cc", "../include/lulesh.h", "??"}
	instructions = []string{"mov", "movsd", "movapd", "addsd", "mulsd", "vmovupd", "vfmadd231pd", "cmp"}
	mitosLevels  = []string{"L1", "LFB", "L2", "L3", "Local RAM", "Remote RAM 1 Hop", "Remote Cache 1 Hops"}
	snoops       = []string{"Snoop None", "Snoop Hit", "Snoop Miss", "Snoop Hit Modified", "Not Available"}
	tlbs         = []string{"TLB Hit", "TLB Miss", "Not Available"}
	cycles       = []int{4, 9, 14, 45, 190, 320, 280}
)

// WriteMitos writes a Mitos file of n samples, the same for the same n.
func WriteMitos(w io.Writer, n int) error {
	b := bufio.NewWriterSize(w, 1<<20)
	if _, err := b.WriteString(mitosHeader); err != nil {
		return err
	}
	r := random(1)
	var line []byte
	for i := range n {
		line = appendMitos(line[:0], i, &r)
		if _, err := b.Write(line); err != nil {
			return err
		}
	}
	return b.Flush()
}

func appendMitos(b []byte, i int, r *random) []byte {
	text := func(s string) { b = append(append(b, s...), ',') }
	number := func(v uint64) { b = append(strconv.AppendUint(b, v, 10), ',') }
	symbol := r.skewed(40)
	source := r.skewed(len(sources))
	text(sources[source])
	if source == len(sources)-1 { // not resolved: no line, instruction or width
		text("??")
		text("??")
		text("??")
	} else {
		number(uint64(r.skewed(2500) + 1))
		text(instructions[r.skewed(len(instructions))])
		number(8)
	}
	number(0x5555_5555_4000)
	number(0x5555_5555_4000 + uint64(r.skewed(200_000)))
	b = appendVariable(b, symbol, r)
	number(4242)
	number(uint64(4242 + r.below(32)))
	number(1_700_000_000_000 + uint64(i)*997 + uint64(r.below(900)))
	number(0x7f00_0000_0000 + uint64(symbol)<<23 + uint64(r.below(1<<20))*8)
	number(uint64(r.below(32)))
	level := r.skewed(len(mitosLevels))
	number(uint64(cycles[level] + r.skewed(cycles[level]*4)))
	text(mitosLevels[level])
	text([]string{"Hit", "Miss"}[r.skewed(2)])
	text([]string{"Load", "Store"}[r.skewed(2)])
	text(snoops[r.skewed(len(snoops))])
	text(tlbs[r.skewed(len(tlbs))])
	return append(b, "0\n"...)
}

// appendVariable writes the variable, its element size, dimensions and index;
// every tenth sample belongs to none.
func appendVariable(b []byte, symbol int, r *random) []byte {
	if r.below(10) == 0 {
		return append(b, "??,0,0,0,0,0,"...)
	}
	b = append(strconv.AppendInt(append(b, 'v'), int64(symbol), 10), ",8,3,"...)
	for range 3 {
		b = append(strconv.AppendInt(b, int64(r.below(90)), 10), ',')
	}
	return b
}
