package pyframe

// The forms in which code says its lines. All take the offset of an instruction,
// in bytes, and return 0 where no line is known.

// lineOfLnotab reads co_lnotab, until 3.9: pairs of steps, of addresses and of
// lines. See Objects/lnotab_notes.txt.
func lineOfLnotab(table []byte, first, last int) int {
	line, at := first, 0
	for ; len(table) >= 2; table = table[2:] {
		if at += int(table[0]); at > last {
			break
		}
		line += int(int8(table[1]))
	}
	return max(line, 0)
}

// lineOfLinetable reads co_linetable of 3.10: pairs of the length of a range and
// the step to its line, -128 for none. See Objects/lnotab_notes.txt.
func lineOfLinetable(table []byte, first, last int) int {
	const noLine = -128
	if last < 0 {
		return first
	}
	line, end := first, 0
	for ; len(table) >= 2; table = table[2:] {
		end += int(table[0])
		step := int(int8(table[1]))
		if step != noLine {
			line += step
		}
		switch {
		case last >= end:
		case step == noLine:
			return 0
		default:
			return max(line, 0)
		}
	}
	return 0
}

// Kinds of entries of a location table.
const (
	locationShort    = 10 // those below
	locationOneLine0 = 10
	locationNoColumn = 13
	locationLong     = 14
	locationNone     = 15
)

// lineOfLocations reads co_linetable of 3.11: entries whose first byte alone has
// its highest bit set, with the kind and the number of instructions. See
// Objects/locations.md.
func lineOfLocations(table []byte, first, last int) int {
	if last < 0 {
		return first
	}
	line, end := first, 0
	for len(table) > 0 && table[0]&0x80 != 0 {
		kind := table[0] >> 3 & 15
		end += (int(table[0]&7) + 1) * unit
		table = table[1:]
		switch {
		case kind == locationLong || kind == locationNoColumn:
			line += signedVarint(table)
		case kind >= locationOneLine0 && kind < locationNoColumn:
			line += int(kind) - locationOneLine0
		}
		switch {
		case last >= end:
		case kind == locationNone:
			return 0
		default:
			return max(line, 0)
		}
		for len(table) > 0 && table[0]&0x80 == 0 {
			table = table[1:]
		}
	}
	return 0
}

// signedVarint reads six bits a byte, the lowest first, with the sign in the lowest.
func signedVarint(b []byte) int {
	const most = 5 // bytes: a line has at most 30 bits
	value := 0
	for i := range b[:min(len(b), most)] {
		value |= int(b[i]&63) << (6 * i)
		if b[i]&64 == 0 {
			break
		}
	}
	if value&1 != 0 {
		return -(value >> 1)
	}
	return value >> 1
}
