package align

import (
	"slices"
	"strings"
	"unicode"
)

// maxTokens bounds what is compared of one line: lines of a megabyte exist.
const maxTokens = 256

// line is one line of a source file, made ready to be compared.
type line struct {
	text   string   // white space collapsed
	tokens []string // sorted
	common bool     // says nothing about where it is: a brace, else, return;
}

func newLines(text []string) []line {
	out := make([]line, len(text))
	for i, t := range text {
		words := strings.Join(strings.Fields(t), " ")
		out[i] = line{text: words, common: commonLine(words)}
		if !out[i].common {
			out[i].tokens = tokens(words)
		}
	}
	return out
}

// words are the tokens of any line.
func (l *line) words() []string {
	if l.common {
		return tokens(l.text)
	}
	return l.tokens
}

func lowered(text []string) []string {
	out := make([]string, len(text))
	for i, t := range text {
		out[i] = strings.ToLower(t)
	}
	return out
}

// commonLine reports lines that files hold many of, whatever they do.
func commonLine(text string) bool {
	switch strings.Trim(text, "{}();, \t") {
	case "", "else", "return", "break", "continue", "default:", "end", "endif", "end if", "end do", "enddo", "/*", "*/", "//", "*", "#endif", "#else", "do", "begin":
		return true
	}
	return false
}

// tokens splits a line into words, numbers and signs, in sorted order.
func tokens(text string) []string {
	var out []string
	word := -1
	for i, r := range text {
		letter := r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)
		if letter && word < 0 {
			word = i
		}
		if letter {
			continue
		}
		if word >= 0 {
			out, word = append(out, text[word:i]), -1
		}
		if r != ' ' {
			out = append(out, string(r))
		}
		if len(out) >= maxTokens {
			break
		}
	}
	if word >= 0 {
		out = append(out, text[word:])
	}
	slices.Sort(out)
	return out
}

// dice is the share of what two sorted lists have in common.
func dice(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch strings.Compare(a[i], b[j]) {
		case 0:
			common++
			i++
			j++
		case -1:
			i++
		default:
			j++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b))
}
