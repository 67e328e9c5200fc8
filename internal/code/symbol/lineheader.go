package symbol

import (
	"errors"
	"fmt"
)

var errLineHeader = errors.New("a line table header is damaged")

// checkLineHeader walks the header of a version 5 line table. The library makes
// room for as many folders and files as the header claims; each takes at least
// a byte in a real one.
func checkLineHeader(d *debugInfo, at int64) error {
	if at < 0 || at >= int64(len(d.line)) {
		return fmt.Errorf("a unit names byte %d of %d of .debug_line", at, len(d.line))
	}
	c := &cursor{data: d.line[at:], order: d.order}
	n, wide := c.length()
	if c.bad || n > uint64(len(c.data)-c.at) {
		return errLineHeader
	}
	c.data = c.data[:c.at+int(n)]
	if version := c.number(2); version != 5 {
		return nil
	}
	c.skip(2)              // sizes of an address and of a segment selector
	c.number(wide)         // length of the header
	c.skip(5)              // instruction sizes and the line range
	opcodes := c.number(1) // the table has one less
	if opcodes > 0 {
		c.skip(opcodes - 1)
	}
	for range 2 { // folders, then files
		if err := checkNamesTable(c, wide); err != nil {
			return err
		}
	}
	return nil
}

func checkNamesTable(c *cursor, wide int) error {
	forms := make([]uint64, c.number(1))
	for i := range forms {
		c.leb()
		forms[i] = c.leb()
	}
	count := c.leb()
	if c.bad || count > uint64(len(c.data)-c.at) {
		return errLineHeader
	}
	for range count {
		for _, f := range forms {
			if !skipForm(c, f, wide) {
				return errLineHeader
			}
		}
	}
	if c.bad {
		return errLineHeader
	}
	return nil
}

// skipForm passes over a value of one of the forms that such tables use
// (DWARF 5, 6.2.4.1).
func skipForm(c *cursor, form uint64, wide int) bool {
	switch form {
	case 0x08: // string
		c.text()
	case 0x0e, 0x1f, 0x1d: // strp, line_strp, strp_sup
		c.number(wide)
	case 0x1a, 0x0f: // strx, udata
		c.leb()
	case 0x25, 0x0b: // strx1, data1
		c.skip(1)
	case 0x26, 0x05: // strx2, data2
		c.skip(2)
	case 0x27: // strx3
		c.skip(3)
	case 0x28, 0x06: // strx4, data4
		c.skip(4)
	case 0x07: // data8
		c.skip(8)
	case 0x1e: // data16
		c.skip(16)
	case 0x09: // block
		c.skip(c.leb())
	default:
		return false
	}
	return !c.bad
}
