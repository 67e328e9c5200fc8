package show

import (
	"fmt"
	"strconv"
	"strings"
)

// count writes a number of samples exactly, with spaces between thousands.
func count(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteRune(thousands)
		}
		b.WriteRune(d)
	}
	return b.String()
}

// thousands is a narrow no-break space.
const thousands = '\u202f'

// amount writes a sum in two or three digits: 2.6 k, 587 k, 1.02 M.
func amount(v float64) string {
	units := []string{"", "k", "M", "G", "T", "P"}
	u := 0
	for v >= 999.5 && u < len(units)-1 {
		v /= 1000
		u++
	}
	switch {
	case u == 0 && v == float64(int(v)):
		return strconv.Itoa(int(v))
	case u > 1 && v < 9.995:
		return trim(fmt.Sprintf("%.2f", v), units[u])
	case v < 99.95:
		return trim(fmt.Sprintf("%.1f", v), units[u])
	}
	return trim(fmt.Sprintf("%.0f", v), units[u])
}

func trim(number, unit string) string {
	if unit == "" {
		return number
	}
	return number + string(thousands) + unit
}

// bytesize writes a size in powers of 1024: 32 KiB, 1.5 MiB.
func bytesize(n uint64) string {
	if n == 0 {
		return ""
	}
	v, u := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	for v >= 1000 && u < len(units)-1 {
		v /= 1024
		u++
	}
	text := strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
	if v >= 100 {
		text = fmt.Sprintf("%.0f", v)
	}
	return text + " " + units[u]
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
