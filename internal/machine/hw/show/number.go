package show

import (
	"math"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// count writes a number of samples exactly, with spaces between thousands.
func count(n uint64) string { return narrow(term.Thousands(n)) }

// countSamples writes how many there are; the noun may stand in the next line.
func countSamples(n uint64) string {
	if n == 1 {
		return "1 sample"
	}
	return count(n) + " samples"
}

// amount writes a sum in two or three digits: 2.6 k, 587 k, 1.02 M. A digit
// fewer than term.Short below a million: ranges of sums must fit beside a tree.
func amount(v float64) string {
	if math.Abs(v) < 9_995 && math.Abs(v) >= 999.5 {
		return narrow(strconv.FormatFloat(v/1000, 'f', 1, 64) + " k")
	}
	if v != math.Trunc(v) && math.Abs(v) < 99.95 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return narrow(term.Short(v))
}

// thousands is a narrow no-break space: numbers in a picture stay in one piece.
const thousands = '\u202f'

func narrow(s string) string { return strings.ReplaceAll(s, " ", string(thousands)) }

// bytesize writes a size, and nothing for one that is not known.
func bytesize(n uint64) string {
	if n == 0 {
		return ""
	}
	return term.Bytes(n)
}

// column writes a number of samples into nine characters: exactly if it fits.
func column(n uint64) string {
	if text := plain(count(n)); len(text) <= 9 {
		return text
	}
	return plain(amount(float64(n)))
}

// span writes a range of numbers without blanks.
func span(least, most uint64) string {
	text := amount(float64(least)) + "–" + amount(float64(most))
	return strings.ReplaceAll(text, string(thousands), "")
}

// plain replaces the narrow space, which terminals draw at any width.
func plain(s string) string { return strings.ReplaceAll(s, string(thousands), " ") }
