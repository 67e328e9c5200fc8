package command

import (
	"math/bits"
	"strings"
	"unicode"
)

// maxInput bounds what is read of an input, and maxWords the words of a phrase:
// positions are kept in one machine word.
const (
	maxInput = 200
	maxWords = 24
)

// split cuts a text into lower-case words at everything that is no letter or
// digit, and where a name changes from small to capital letters: dataSource and
// data_source are both "data source".
func split(text string) []string {
	var words []string
	start, previous := -1, rune(0)
	end := func(at int) {
		if start >= 0 {
			words = append(words, strings.ToLower(text[start:at]))
		}
		start = -1
	}
	for i, r := range text {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !letter || unicode.IsUpper(r) && unicode.IsLower(previous) {
			end(i)
		}
		if letter && start < 0 {
			start = i
		}
		previous = r
		if len(words) == maxWords {
			return words
		}
	}
	end(len(text))
	return words
}

// fold writes a text as the comparison by letters sees it: words in small
// letters, one blank between.
func fold(text string) string { return strings.Join(split(text), " ") }

// stem takes the plural off a word.
func stem(w string) string {
	for _, end := range []string{"sses", "ches", "shes", "xes"} {
		if strings.HasSuffix(w, end) {
			return w[:len(w)-2]
		}
	}
	if y, ok := strings.CutSuffix(w, "ies"); ok && len(y) > 2 {
		return y + "y"
	}
	if len(w) > 3 && w[len(w)-1] == 's' && w[len(w)-2] != 's' {
		return w[:len(w)-1]
	}
	return w
}

// letters returns a bit for every letter and digit of a word: a cheap test
// that a word cannot be meant by another.
func letters(w string) uint64 {
	var m uint64
	for i := range len(w) {
		switch c := w[i]; {
		case c >= 'a' && c <= 'z':
			m |= 1 << (c - 'a')
		case c >= '0' && c <= '9':
			m |= 1 << (26 + c - '0')
		default:
			m |= 1 << 63
		}
	}
	return m
}

// typos is how many slips a typed word of that length may have.
func typos(n int) int {
	switch {
	case n < 3:
		return 0
	case n < 8:
		return 1
	}
	return 2
}

// resemble says how well a typed word stands for a word of a phrase, from 0 to
// 1: equal, its plural, its beginning, the same beginning, an abbreviation, a
// slip of the keys, a part.
func resemble(typed string, mask uint64, w string, wmask uint64) float64 {
	if typed == w {
		return 1
	}
	if bits.OnesCount64(mask&^wmask) > max(typos(len(typed)), 3*len(typed)/10) {
		return 0
	}
	if stem(typed) == stem(w) {
		return 0.97
	}
	if strings.HasPrefix(w, typed) {
		return 0.75 + 0.2*float64(len(typed))/float64(len(w))
	}
	if hasDigit(typed) && (len(typed) < 4 || strings.Trim(typed, "0123456789") == "") {
		return 0 // L1 is not a slip for L2, nor 4711 for 4712
	}
	score := 0.0
	if same := commonPrefix(typed, w); same >= 4 && 10*same >= 6*max(len(typed), len(w)) {
		score = 0.6 + 0.3*float64(same)/float64(max(len(typed), len(w)))
	}
	if len(typed) >= 2 && typed[0] == w[0] && subsequence(typed, w) {
		score = max(score, 0.5+0.3*float64(len(typed))/float64(len(w)))
	}
	score = max(score, slip(typed, w))
	if score == 0 && len(typed) >= 3 && strings.Contains(w, typed) {
		score = 0.55
	}
	return score
}

// slip scores a word with wrong, missing, doubled or swapped letters.
func slip(typed, w string) float64 {
	most := typos(len(typed))
	if most == 0 {
		return 0
	}
	whole, prefix := edits(typed, w, most)
	if len(typed) == 3 {
		// Of three letters any word is near; only a swap is clearly a slip.
		if whole == 1 && len(w) == 3 && letters(typed) == letters(w) {
			return 0.7
		}
		return 0
	}
	switch {
	case whole <= most:
		return 0.84 - 0.12*float64(whole)
	case prefix <= most && typed[0] == w[0]:
		return 0.74 - 0.12*float64(prefix)
	}
	return 0
}

func hasDigit(w string) bool { return strings.ContainsAny(w, "0123456789") }

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// subsequence reports whether the letters of a occur in b in this order.
func subsequence(a, b string) bool {
	i := 0
	for j := 0; j < len(b) && i < len(a); j++ {
		if a[i] == b[j] {
			i++
		}
	}
	return i == len(a)
}

// weight is how much a word says: little words and the prefixes of hardware
// field names say little.
func weight(w string) float64 {
	switch w {
	case "of", "the", "in", "at", "is", "to", "a", "by", "all", "accesses", "access", "axis", "only", "with", "that", "are", "from", "on":
		return 0.2
	case "samples", "sample":
		return 0.5
	case "ibs", "op", "dc", "nb", "ret":
		return 0.35
	}
	return 1
}
