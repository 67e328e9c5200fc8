package unwind

import "encoding/binary"

// reader reads numbers of a section one after the other. Reading past the end
// sets bad and yields zeros from then on, so that a row of fields needs one
// check at its end.
type reader struct {
	b     []byte
	at    int // of the next byte in b
	order binary.ByteOrder
	bad   bool
}

// left is how many bytes have not been read.
func (r *reader) left() int { return len(r.b) - r.at }

func (r *reader) fail() {
	r.bad, r.at = true, len(r.b)
}

// bytes returns the next n bytes.
func (r *reader) bytes(n uint64) []byte {
	if n > uint64(r.left()) {
		r.fail()
		return nil
	}
	out := r.b[r.at : r.at+int(n)]
	r.at += int(n)
	return out
}

// number reads an unsigned number of 1, 2, 4 or 8 bytes.
func (r *reader) number(size int) uint64 {
	b := r.bytes(uint64(size))
	if b == nil {
		return 0
	}
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(r.order.Uint16(b))
	case 4:
		return uint64(r.order.Uint32(b))
	}
	return r.order.Uint64(b)
}

// signed reads a number of 1, 2, 4 or 8 bytes and extends its sign.
func (r *reader) signed(size int) uint64 {
	shift := 64 - 8*size
	return uint64(int64(r.number(size)<<shift) >> shift)
}

func (r *reader) byte() byte { return byte(r.number(1)) }

// uleb reads a number of seven bits a byte; bits above 64 are dropped.
func (r *reader) uleb() (v uint64) {
	for shift := uint(0); ; shift += 7 {
		b := r.byte()
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b&0x80 == 0 {
			return v
		}
	}
}

// sleb reads a signed number of seven bits a byte.
func (r *reader) sleb() (v int64) {
	for shift := uint(0); ; {
		b := r.byte()
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 != 0 {
			continue
		}
		if b&0x40 != 0 && shift < 64 {
			v |= -1 << shift
		}
		return v
	}
}

// text reads up to the next zero byte.
func (r *reader) text() string {
	for i := r.at; i < len(r.b); i++ {
		if r.b[i] == 0 {
			s := string(r.b[r.at:i])
			r.at = i + 1
			return s
		}
	}
	r.fail()
	return ""
}

// How a pointer of .eh_frame is written: its form in the low four bits, what is
// to be added to it above, and one bit for "the address of the address".
const (
	encOmit     = 0xff
	encIndirect = 0x80

	formMask    = 0x0f
	formAddress = 0x00
	formULEB    = 0x01
	formU2      = 0x02
	formU4      = 0x03
	formU8      = 0x04
	formSLEB    = 0x09
	formS2      = 0x0a
	formS4      = 0x0b
	formS8      = 0x0c

	baseMask     = 0x70
	baseSelf     = 0x10
	baseText     = 0x20
	baseData     = 0x30
	baseFunction = 0x40
	baseAligned  = 0x50
)

// bases are what pointers may be relative to.
type bases struct{ section, text, data, function uint64 }

// pointer reads an encoded pointer. An indirect one is returned as the address
// it would be read from: only personality routines are, which nobody calls here.
func (r *reader) pointer(enc byte, word int, base bases) uint64 {
	if enc == encOmit {
		return 0
	}
	if enc&baseMask == baseAligned {
		for r.left() > 0 && (base.section+uint64(r.at))%uint64(word) != 0 {
			r.at++
		}
		return r.number(word)
	}
	self := base.section + uint64(r.at)
	var v uint64
	switch enc & formMask {
	case formAddress:
		v = r.number(word)
	case formULEB:
		v = r.uleb()
	case formU2:
		v = r.number(2)
	case formU4:
		v = r.number(4)
	case formU8:
		v = r.number(8)
	case formSLEB:
		v = uint64(r.sleb())
	case formS2:
		v = r.signed(2)
	case formS4:
		v = r.signed(4)
	case formS8:
		v = r.signed(8)
	default:
		r.fail()
	}
	switch enc & baseMask {
	case 0:
	case baseSelf:
		v += self
	case baseText:
		v += base.text
	case baseData:
		v += base.data
	case baseFunction:
		v += base.function
	default:
		r.fail()
	}
	return v
}
