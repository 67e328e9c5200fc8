package term

import (
	"strings"
	"unicode"
)

// Plain is a text without the characters that a terminal obeys: names come from
// files of strangers. Line ends and tabs stay.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return '\uFFFD'
		}
		return r
	}, text)
}
