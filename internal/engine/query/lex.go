package query

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/base/term"
)

// SyntaxError is a selection text that cannot be understood. Position counts
// bytes from the start of the text.
type SyntaxError struct {
	Text     string
	Position int
	Problem  string
}

// Error shows the place with a caret-free quote, so that it reads well in one
// line of a terminal and in a tooltip.
func (e *SyntaxError) Error() string {
	if e.Position >= len(e.Text) {
		return fmt.Sprintf("selection %q: at the end: %s", e.Text, e.Problem)
	}
	return fmt.Sprintf("selection %q: at %q (character %d): %s",
		e.Text, term.ClipEnd(e.Text[e.Position:], 13), utf8.RuneCountInString(e.Text[:e.Position])+1, e.Problem)
}

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // latency, in, L3:1
	tokenText             // "Local RAM"
	tokenNumber           // 200, 0x7f, 1.5ms
	tokenSign             // = != < <= > >= ~ & | ! ( ) , ..
)

type token struct {
	kind tokenKind
	text string // decoded: without quotes
	at   int
	num  Value // of a number
}

type lexer struct {
	in string
	at int
}

func (l *lexer) errorf(at int, format string, args ...any) error {
	return &SyntaxError{l.in, at, fmt.Sprintf(format, args...)}
}

func (l *lexer) next() (token, error) {
	for l.at < len(l.in) && strings.IndexByte(" \t\r\n", l.in[l.at]) >= 0 {
		l.at++
	}
	start := l.at
	if start == len(l.in) {
		return token{at: start}, nil
	}
	c := l.in[start]
	switch {
	case c == '"', c == '\'': // a shell keeps one kind for itself
		return l.quoted(c)
	case digit(c), (c == '-' || c == '+' || c == '.') && start+1 < len(l.in) && digit(l.in[start+1]):
		return l.number()
	case wordRune(rune(c), true):
		return l.word(), nil
	}
	for _, sign := range [...]string{"!=", "<=", ">=", "..", "=", "<", ">", "~", "&", "|", "!", "(", ")", ","} {
		if strings.HasPrefix(l.in[start:], sign) {
			l.at += len(sign)
			// Doubled forms are what programmers type.
			if (sign == "&" || sign == "|" || sign == "=") && strings.HasPrefix(l.in[l.at:], sign) {
				l.at++
			}
			return token{kind: tokenSign, text: sign, at: start}, nil
		}
	}
	return token{}, l.errorf(start, "unexpected character; names with other characters go in quotes")
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (l *lexer) word() token {
	start := l.at
	for l.at < len(l.in) && wordRune(rune(l.in[l.at]), false) && !strings.HasPrefix(l.in[l.at:], "..") {
		l.at++
	}
	return token{kind: tokenWord, text: l.in[start:l.at], at: start}
}

func (l *lexer) quoted(quote byte) (token, error) {
	start := l.at
	var b strings.Builder
	for i := start + 1; i < len(l.in); i++ {
		switch c := l.in[i]; {
		case c == quote:
			l.at = i + 1
			return token{kind: tokenText, text: b.String(), at: start}, nil
		case c == '\\' && i+1 < len(l.in) && (l.in[i+1] == quote || l.in[i+1] == '\\'):
			i++
			b.WriteByte(l.in[i])
		default:
			b.WriteByte(c)
		}
	}
	return token{}, l.errorf(start, "the closing quote is missing")
}

// units that may follow a number directly. Times are kept in nanoseconds.
var units = map[string]float64{
	"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30,
	"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9,
}

func (l *lexer) number() (token, error) {
	start := l.at
	rest := l.in[start:]
	if len(rest) > 2 && (rest[:2] == "0x" || rest[:2] == "0X") {
		n := 2
		for n < len(rest) && strings.IndexByte("0123456789abcdefABCDEF", rest[n]) >= 0 {
			n++
		}
		u, err := strconv.ParseUint(rest[2:n], 16, 64)
		if err != nil {
			return token{}, l.errorf(start, "not a 64-bit hexadecimal number")
		}
		l.at += n
		return token{tokenNumber, rest[:n], start, Value{Text: rest[:n], Number: float64(u), Uint: u, IsNumber: true}}, nil
	}
	digits := numberLength(rest)
	end := digits
	for end < len(rest) && (rest[end] >= 'a' && rest[end] <= 'z' || rest[end] >= 'A' && rest[end] <= 'Z' || rest[end] >= utf8.RuneSelf) {
		end++
	}
	factor, ok := units[rest[digits:end]]
	if !ok {
		return token{}, l.errorf(start, "unknown unit %q; want ns, us, ms, s, k, M, G, Ki, Mi or Gi, or put a name in quotes", rest[digits:end])
	}
	f, err := strconv.ParseFloat(rest[:digits], 64)
	if err != nil {
		return token{}, l.errorf(start, "not a number")
	}
	v := Value{Text: rest[:end], Number: f * factor, IsNumber: true}
	if u, err := strconv.ParseUint(rest[:digits], 10, 64); err == nil && factor == 1 {
		v.Uint = u
	} else if v.Number >= 0 && v.Number < 1<<63 && v.Number == float64(uint64(v.Number)) {
		v.Uint = uint64(v.Number)
	}
	l.at += end
	return token{tokenNumber, rest[:end], start, v}, nil
}

// numberLength returns how many bytes of s are a decimal number. It stops
// before "..", so that 0..10 is a range.
func numberLength(s string) int {
	i := 0
	if s[i] == '-' || s[i] == '+' {
		i++
	}
	point := false
	for ; i < len(s); i++ {
		switch {
		case digit(s[i]):
		case s[i] == '.' && !point && !strings.HasPrefix(s[i:], ".."):
			point = true
		case (s[i] == 'e' || s[i] == 'E') && exponent(s[i+1:]) > 0:
			return i + 1 + exponent(s[i+1:])
		default:
			return i
		}
	}
	return i
}

// exponent returns the length of an exponent's digits at the start of s, or 0.
func exponent(s string) int {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	first := i
	for i < len(s) && digit(s[i]) {
		i++
	}
	if i == first {
		return 0
	}
	return i
}
