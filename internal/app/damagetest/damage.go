package damagetest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
)

// source is where chance comes from: an attempt is known by its number, and can
// be made again.
type source struct{ *rand.Rand }

func newSource(specimen, attempt int) *source {
	return &source{rand.New(rand.NewPCG(uint64(specimen), uint64(attempt)))}
}

// numbers are those that arithmetic on lengths and offsets gets wrong.
var numbers = []uint64{0, 1, 2, 7, 8, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1<<62 + 1, 1<<63 - 1, 1 << 63, 1<<64 - 1}

// bad is a number to put in place of another.
func (s *source) bad(was uint64) uint64 {
	switch s.IntN(4) {
	case 0:
		return was + uint64(s.IntN(17)) - 8
	case 1:
		return was << s.IntN(8)
	case 2:
		return s.Uint64() >> s.IntN(64)
	}
	return numbers[s.IntN(len(numbers))]
}

// word overwrites a number of 1 to 8 bytes somewhere in b.
func (s *source) word(b []byte) {
	size := 1 << s.IntN(4)
	if len(b) < size {
		return
	}
	at := s.IntN(len(b) - size + 1)
	if s.IntN(2) == 0 {
		at = at / size * size // fields are mostly aligned
	}
	var wide [8]byte
	copy(wide[:], b[at:at+size])
	binary.LittleEndian.PutUint64(wide[:], s.bad(binary.LittleEndian.Uint64(wide[:])))
	if s.IntN(4) == 0 {
		slices.Reverse(wide[:size])
	}
	copy(b[at:], wide[:size])
}

// place is a part of b of at most so many bytes.
func (s *source) place(b []byte, most int) (from, to int) {
	from = s.IntN(len(b) + 1)
	return from, from + s.IntN(min(most, len(b)-from)+1)
}

// damageBytes is damage without knowledge of the format.
func damageBytes(s *source, b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	for range 1 + s.IntN(3) {
		switch s.IntN(8) {
		case 0, 1:
			b[s.IntN(len(b))] ^= 1 << s.IntN(8)
		case 2, 3, 4:
			s.word(b)
		case 5: // cut out
			from, to := s.place(b, 64)
			b = slices.Delete(b, from, to)
		case 6: // twice
			from, to := s.place(b, 256)
			b = slices.Insert(b, to, bytes.Clone(b[from:to])...)
		case 7: // another part
			from, to := s.place(b, 64)
			copy(b[s.IntN(len(b)+1):], bytes.Clone(b[from:to]))
		}
		if len(b) == 0 {
			break
		}
	}
	return b
}

// damageText changes numbers, lines and words of a text.
func damageText(s *source, b []byte) []byte {
	switch s.IntN(6) {
	case 0:
		return damageBytes(s, b)
	case 1: // a line twice, many times, or elsewhere
		lines := bytes.SplitAfter(b, []byte("\n"))
		line := lines[s.IntN(len(lines))]
		return bytes.Join(slices.Insert(lines, s.IntN(len(lines)+1), bytes.Repeat(line, 1+s.IntN(20))), nil)
	case 2: // a line less
		lines := bytes.SplitAfter(b, []byte("\n"))
		at := s.IntN(len(lines))
		return bytes.Join(slices.Delete(lines, at, at+1), nil)
	case 3: // a mark of the syntax
		marks := "<>\"'=&;,{}[]()#\\/\x00\xff\n\r\t :-+.eE%"
		return slices.Insert(b, s.IntN(len(b)+1), marks[s.IntN(len(marks))])
	}
	return s.numeral(b)
}

// numeral replaces a number that is written in digits.
func (s *source) numeral(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	start := s.IntN(len(b))
	at := slices.IndexFunc(b[start:], digit)
	if at < 0 {
		return damageBytes(s, b)
	}
	from := start + at
	to := from
	for to < len(b) && digit(b[to]) {
		to++
	}
	was, _ := strconv.ParseUint(string(b[from:to]), 10, 64)
	texts := []string{strconv.FormatUint(s.bad(was), 10), "-1", "-9223372036854775808", "1e308", "nan", "99999999999999999999999", "0.5", ""}
	text := texts[0]
	if s.IntN(3) == 0 {
		text = texts[s.IntN(len(texts))]
	}
	return slices.Replace(b, from, to, []byte(text)...)
}
