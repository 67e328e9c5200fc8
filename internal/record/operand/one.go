package operand

// OneARM64 returns the access of a single A64 instruction, given the registers
// before it. The reason is Found, or why its address is not known; ok is false
// for an instruction that touches no memory.
func OneARM64(word uint32, pc uint64, r *Registers) (a Access, why Reason, ok bool) {
	in, m := inst{pc: pc, len: 4, loads: none, stores: none}, memARM64{}
	decodeARM64(word, &in, &m)
	switch {
	case in.flow == broken:
		return a, Undecodable, true
	case !in.accesses:
		return a, Found, false
	case in.why != Found:
		return a, in.why, true
	}
	return Access{Addr: m.addr(pc, r), Size: m.size, Op: m.op, PC: pc}, Found, true
}
