package delimited

import "strconv"

// seen is the set of shapes that the cells of a column had.
type seen uint16

const (
	sawDecimal  seen = 1 << iota // 123
	sawNegative                  // -123
	sawHex                       // 7f8a: hexadecimal with a letter
	sawPrefix                    // 0x7f
	sawFloat                     // 1.5, 1e3
	sawText                      // anything else
	sawHuge                      // a decimal number beyond 64 bits
	sawEither                    // 12e4: a float, or hexadecimal
	sawWord                      // add: an instruction, or hexadecimal
)

// typ decides what a column with such cells holds. Letters a to f among plain
// digits make it hexadecimal; a word, a sign or a point beside them makes it
// text or a float.
func (s seen) typ() Type {
	switch {
	case s&sawText != 0:
		return Text
	case s&(sawHex|sawPrefix) != 0 && s&(sawFloat|sawNegative|sawHuge) == 0:
		return Hex
	case s&(sawHex|sawPrefix|sawWord) != 0:
		return Text
	case s&(sawFloat|sawHuge|sawEither) != 0:
		return Float
	}
	return Int
}

// null reports whether a cell is one of the words that writers of sample files
// use for "no value".
func null(cell []byte) bool {
	if len(cell) == 0 {
		return true
	}
	switch cell[0] {
	case '?':
		return string(cell) == "??"
	case '(':
		return string(cell) == "(null)"
	case 'N':
		return string(cell) == "N/A" || string(cell) == "Not Available"
	case 'I':
		return string(cell) == "Invalid Data Source"
	case 'n':
		return string(cell) == "nan"
	}
	return false
}

// classify returns the shape of a cell, 0 for one without a value.
func classify(cell []byte) seen {
	if null(cell) {
		return 0
	}
	if c := cell[0]; c == '-' || c == '+' {
		if _, ok := decimal(cell[1:]); ok {
			return sawNegative
		}
		return float(cell)
	}
	if _, ok := decimal(cell); ok {
		return sawDecimal
	}
	if len(cell) > 2 && cell[0] == '0' && (cell[1] == 'x' || cell[1] == 'X') {
		if _, ok := hexadecimal(cell); ok {
			return sawPrefix
		}
		return sawText
	}
	_, isHex := hexadecimal(cell)
	f := float(cell)
	switch {
	case isHex && f == sawFloat:
		// 12e4 is a number in both systems; the other cells decide.
		return sawEither
	case isHex && !hasDigit(cell):
		return sawWord
	case isHex:
		return sawHex
	}
	return f
}

func hasDigit(cell []byte) bool {
	for _, c := range cell {
		if c >= '0' && c <= '9' {
			return true
		}
	}
	return false
}

func float(cell []byte) seen {
	if _, err := strconv.ParseFloat(string(cell), 64); err != nil {
		return sawText
	}
	for _, c := range cell {
		if c == '.' || c == 'e' || c == 'E' || c == 'n' || c == 'N' || c == 'i' || c == 'I' {
			return sawFloat
		}
	}
	return sawHuge
}

// decimal parses an unsigned decimal number.
func decimal(cell []byte) (uint64, bool) {
	if len(cell) == 0 || len(cell) > 20 {
		return 0, false
	}
	var n uint64
	for i, c := range cell {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		if i == 19 && (n > 1844674407370955161 || n == 1844674407370955161 && d > 5) {
			return 0, false
		}
		n = n*10 + d
	}
	return n, true
}

// hexadecimal parses an unsigned hexadecimal number with or without 0x.
func hexadecimal(cell []byte) (uint64, bool) {
	if len(cell) > 2 && cell[0] == '0' && (cell[1] == 'x' || cell[1] == 'X') {
		cell = cell[2:]
	}
	if len(cell) == 0 || len(cell) > 16 {
		return 0, false
	}
	var n uint64
	for _, c := range cell {
		d := hexDigit[c]
		if d > 15 {
			return 0, false
		}
		n = n<<4 | uint64(d)
	}
	return n, true
}

var hexDigit = func() (t [256]uint8) {
	for i := range t {
		t[i] = 255
	}
	for i := range 10 {
		t['0'+i] = uint8(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = uint8(10+i), uint8(10+i)
	}
	return t
}()
