// Package redact takes secrets out of command lines: what is recorded is passed
// on.
package redact

import (
	"regexp"
	"slices"
	"strings"
)

// hidden stands for a secret.
const hidden = "…"

var (
	// secretName is the name of an option or variable whose value nobody should
	// see.
	secretName = regexp.MustCompile(`(?i)(^|[-_.])(pass(word|wd|phrase)?|pw|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key|auth(orization)?|credentials?|jwt|bearer|cookie)([-_.]\w*)?$`)
	// secretValue is a value that is a secret by its looks: tokens of well-known
	// makers, JSON web tokens, keys.
	secretValue = regexp.MustCompile(`^(eyJ[\w-]+\.[\w-]+\.[\w-]*|AKIA[0-9A-Z]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{20,}|xox[abprs]-[\w-]{10,}|sk-[\w-]{20,}|AIza[\w-]{30,}|-----BEGIN .*|(?i:bearer|basic) .+)`)
	userinfo    = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^/\s:@]*:)[^/\s@]+@`)
)

// Hides says that a secret was taken out of an argument.
func Hides(arg string) bool { return strings.Contains(arg, hidden) }

// Args returns a command line without the values that look like secrets.
func Args(args []string) []string {
	out := slices.Clone(args)
	next := false // the next argument is the value of an option
	for i, a := range out {
		name, value, assigned := strings.Cut(a, "=")
		bare := strings.TrimLeft(name, "-")
		switch {
		case next && !strings.HasPrefix(a, "-"):
			out[i], next = hidden, false
			continue
		case assigned && secretName.MatchString(bare) && value != "":
			out[i] = name + "=" + hidden
		case assigned && secretValue.MatchString(value):
			out[i] = name + "=" + hidden
		case secretValue.MatchString(a):
			out[i] = hidden
		default:
			out[i] = userinfo.ReplaceAllString(a, "${1}"+hidden+"@")
		}
		next = !assigned && strings.HasPrefix(a, "-") && secretName.MatchString(bare)
	}
	return out
}
