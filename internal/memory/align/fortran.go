package align

import (
	"regexp"
	"strings"
)

// Heads and ends of what Fortran's programs consist of. Before the word of a function
// stands what it is and returns, such as "pure elemental real(kind=8)".
var (
	fortranHead      = regexp.MustCompile(`^(?:[a-z_*0-9]+ ?(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?[ ]*)*\b(?:subroutine|function|program) ([a-z_]\w*) ?(?:\(|$|result|bind)`)
	fortranEnd       = regexp.MustCompile(`^(?:\d+ )?end ?(?:(?:subroutine|function|program)(?: ([a-z_]\w*))?)?$`)
	fortranInterface = regexp.MustCompile(`^(?:abstract )?interface\b`)
	// fortranOnly are lines of Fortran that no language with braces has.
	fortranOnly = regexp.MustCompile(`^(?:implicit none|end (?:do|if|module|select|interface|type)|enddo|endif|contains|(?:integer|real|logical|type|character|complex|double precision)\b.*::.*)`)
)

// fortranFunctions finds the functions of a program in Fortran, one inside of another
// among them, and says whether the text is one.
func fortranFunctions(text []string) (found []function, fortran bool) {
	var open []int     // functions that have not ended
	inner := 0         // of them may hold others: their "contains" came
	described := false // what an interface lists is none of this program's functions
	sure := false
	fixed := fixedForm(text)
	closeFrom := func(k, at int) {
		for _, f := range open[k:] {
			found[f].to = at
		}
		open, inner = open[:k], min(inner, k)
	}
	for i, t := range text {
		code, _ := fortranCode(t, fixed)
		if strings.HasSuffix(code, "{") || strings.HasSuffix(code, ";") { // other languages end lines so
			return nil, false
		}
		sure = sure || fortranOnly.MatchString(code)
		switch {
		case code == "end interface" || code == "endinterface":
			described = false
		case fortranInterface.MatchString(code):
			described = true
		}
		if described {
			continue
		}
		if m := fortranHead.FindStringSubmatch(code); m != nil && !strings.HasPrefix(code, "end") {
			closeFrom(inner, i)
			found, open = append(found, function{name: m[1], from: i, to: len(text)}), append(open, len(found))
			continue
		}
		m := fortranEnd.FindStringSubmatch(code)
		switch {
		case code == "contains":
			inner = len(open)
		case m == nil || len(open) == 0:
		case m[1] == "":
			closeFrom(len(open)-1, i+1)
			sure = sure || fixed // other languages end functions by the word alone too
		default:
			for k := len(open) - 1; k >= 0; k-- {
				if found[open[k]].name == m[1] {
					closeFrom(k, i+1)
					sure = true
					break
				}
			}
		}
	}
	return found, sure && len(found) > 0
}

// fixedForm says that a text is in the columns of Fortran 77: a C or * in the first is
// a comment there, and a sign in the sixth goes on with the line before.
func fixedForm(text []string) bool {
	for _, t := range text {
		if t = strings.ToLower(t); t != "" && t[0] > ' ' && t[0] != 'c' && t[0] != '*' && t[0] != '!' && t[0] != '#' && t[0] != '$' && (t[0] < '0' || t[0] > '9') {
			return false
		}
	}
	return true
}

// fortranCode parts a line into its code, in small letters with single blanks, and the
// comment behind it.
func fortranCode(t string, fixed bool) (code, comment string) {
	t = strings.ToLower(t)
	if fixed && t != "" && strings.ContainsRune("c*!", rune(t[0])) {
		return "", t[1:]
	}
	quote := byte(0)
	for i := 0; i < len(t); i++ {
		switch c := t[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '!':
			return strings.Join(strings.Fields(t[:i]), " "), t[i+1:]
		}
	}
	return strings.Join(strings.Fields(t), " "), ""
}
