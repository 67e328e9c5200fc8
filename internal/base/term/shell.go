package term

import (
	"regexp"
	"strings"
)

// unquoted are words that a shell takes as they are.
var unquoted = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// Shell is a command line that a shell splits into these words again.
func Shell(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; !unquoted.MatchString(w) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
