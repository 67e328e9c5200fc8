// Package redact takes secrets out of command lines: what is recorded is passed
// on.
package redact

import (
	"path"
	"regexp"
	"strings"
)

// hidden stands for a secret.
const hidden = "…"

// named are words that say that what follows is nobody's business, inside any
// other word, and short ones that do so alone.
const (
	named = `pass(?:word|wd|phrase)|secret|credential|api[-_]?key|access[-_]?key|private[-_]?key|sshpass`
	alone = `pass|pw|pwd|auth|authorization|jwt|bearer|cookie`
)

var (
	// secretName is the name of an option or variable whose value nobody should
	// see. A limit of tokens is none.
	secretName = regexp.MustCompile(`(?i)(?:` + named + `)[\w.-]*$|(?:^|[-_.])(?:` + alone + `)(?:[-_.]\w*)?$|token(?:[-_.]\w*)?$`)
	// secretValue is a value that is a secret by its looks: tokens of well-known
	// makers, JSON web tokens, keys.
	secretValue = regexp.MustCompile(`^(?:eyJ[\w-]+\.[\w-]+\.[\w-]*|A(?:KIA|SIA)[0-9A-Z]{16}|gh[pousr]_\w{20,}|github_pat_\w{20,}|gl(?:pat|rt|dt)-[\w-]{20,}|xox[abeprs]-[\w-]{10,}|xapp-[\w-]{10,}|` +
		`sk-[\w-]{20,}|[sr]k_(?:live|test)_\w{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|dckr_pat_[\w-]{20,}|dop_v1_\w{20,}|` +
		`shpat_\w{20,}|SG\.[\w-]{16,}\.[\w-]+|hv[sb]\.[\w-]{20,}|AGE-SECRET-KEY-\w+|-----BEGIN .*|(?i:bearer|basic) .+)`)
	// userinfo is a password in an address, or a token in place of user and password.
	userinfo = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)(?:([^/\s:@]*:)[^/\s@]+|[^/\s:@]{20,})@`)
	// parameter is one of an address, or of a list of settings that is one word.
	parameter = regexp.MustCompile(`(?i)([?&;,][\w.-]*(?:` + named + `|token|signature|sig|jwt|auth)[\w.-]*=)[^&;,\s]+`)
	word      = regexp.MustCompile(`\S+`)
)

// short are options of well-known programs that a secret follows; of those with a
// + only in the same word.
var short = map[string]string{
	"sshpass": "-p", "redis-cli": "-a", "ldapsearch": "-w", "ldapadd": "-w", "ldapmodify": "-w",
	"mysql": "-p+", "mysqldump": "-p+", "mysqladmin": "-p+", "mysqlimport": "-p+", "mariadb": "-p+", "mariadb-dump": "-p+",
}

// Hides says that a secret was taken out of an argument.
func Hides(arg string) bool { return strings.Contains(arg, hidden) }

// Args returns a command line without the values that look like secrets.
func Args(args []string) []string {
	if args == nil {
		return nil
	}
	out := make([]string, len(args))
	var h hider
	for i, a := range args {
		out[i] = h.arg(a)
	}
	return out
}

// Lines is Args of several command lines.
func Lines(lines [][]string) [][]string {
	out := make([][]string, len(lines))
	for i, l := range lines {
		out[i] = Args(l)
	}
	return out
}

// hider goes through a command line.
type hider struct {
	program string // the last that is known
	next    bool   // the next argument is the value of an option
	login   bool   // … or may be a name and a password
	until   string // all is hidden up to the quote that ends a value
}

func (h *hider) arg(a string) string {
	next, login := h.next, h.login
	h.next, h.login = false, false
	switch {
	case h.until != "":
		if strings.HasSuffix(a, h.until) {
			h.until = ""
		}
		return hidden
	case next && !strings.HasPrefix(a, "-"):
		return h.hide("", a)
	case login && strings.Contains(a, ":"):
		name, password, _ := strings.Cut(a, ":")
		return h.hide(name+":", password)
	case strings.ContainsAny(a, " \t\n") && !secretValue.MatchString(a):
		return text(a)
	}
	name, value, assigned := strings.Cut(a, "=")
	bare := strings.TrimLeft(name, `-"'`)
	h.next = !assigned && strings.HasPrefix(a, "-") && secretName.MatchString(bare)
	switch {
	case assigned && value != "" && (secretName.MatchString(bare) || secretValue.MatchString(strings.Trim(value, `"'`))):
		return h.hide(name+"=", value)
	case secretValue.MatchString(strings.Trim(a, `"'`)):
		return hidden
	}
	if kept, ok := h.known(a); ok {
		return kept
	}
	a = userinfo.ReplaceAllString(a, "${1}${2}"+hidden+"@")
	return parameter.ReplaceAllString(a, "${1}"+hidden)
}

// hide hides a value, and what follows if it goes on there.
func (h *hider) hide(before, value string) string {
	for _, quote := range []string{`"`, "'"} {
		if strings.HasPrefix(value, quote) && (len(value) == 1 || !strings.HasSuffix(value, quote)) {
			h.until = quote
		}
	}
	return before + hidden
}

// known looks for programs whose options have one letter.
func (h *hider) known(a string) (kept string, ok bool) {
	option, attached := strings.CutSuffix(short[h.program], "+")
	switch base := path.Base(strings.Trim(a, `"'`)); {
	case short[base] != "" || base == "curl":
		h.program = base
	case h.program == "curl" && (a == "-u" || a == "--user" || a == "-U" || a == "--proxy-user"):
		h.login = true
	case option != "" && a == option:
		h.next = !attached
	case option != "" && strings.HasPrefix(a, option):
		return h.hide(option, a[len(option):]), true
	}
	return "", false
}

// text is an argument of several words, such as a script of a shell, a line of a
// header, or a whole command line, without the values that look like secrets.
func text(a string) string {
	var h hider
	rest := false // all that follows is the value of a name with a colon
	return word.ReplaceAllStringFunc(a, func(w string) string {
		if rest {
			return hidden
		}
		name, colon := strings.CutSuffix(w, ":")
		rest = colon && secretName.MatchString(strings.TrimLeft(name, `"'`))
		return h.arg(w)
	})
}
