package reftrace

import (
	"debug/elf"

	"github.com/isobath/isobath/internal/code/access"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
)

// stacks returns an address of the stack of each thread, by the first call or
// return that the thread makes. Under an emulator, and for all threads but the
// first, the system does not say which memory is a stack.
func (j *job) stacks(files *symbol.Files) map[uint32]uint64 {
	found := map[uint32]uint64{}
	if j.program.Machine != elf.EM_X86_64 {
		return found
	}
	flows := map[uint64]access.Flow{}
	last, known := uint32(0), false
	for _, block := range j.rec.blocks() {
		for i := range block {
			r := &block[i]
			if known && r.Thread == last {
				continue
			}
			if _, known = found[r.Thread]; known {
				last = r.Thread
				continue
			}
			flow, seen := flows[r.PC]
			if !seen {
				if in, err := access.DecodeAMD64(j.codeAt(files, r.PC)); err == nil {
					flow = in.Flow
				}
				flows[r.PC] = flow
			}
			if r.Size == 8 && (flow == access.Call && r.Op == refs.Store || flow == access.Return && r.Op == refs.Load) {
				found[r.Thread], last, known = r.Addr, r.Thread, true
			}
		}
	}
	return found
}
