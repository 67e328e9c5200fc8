package term

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Plain is a text without the characters that a terminal obeys: names come from
// files of strangers. Line ends and tabs stay.
func Plain(text string) string { return strings.Map(plainRune, visible(text)) }

// visible is a text whose characters stand in the order in which they are read.
// Those that turn the order of others around, so that one name looks like another,
// and those that end a line where no line end is, are written as the escapes of
// JSON, in which they stay what they are.
func visible(text string) string {
	if !strings.ContainsFunc(text, misleads) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if misleads(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// misleads tells whether a character is an embedding, an override or an isolate of
// a direction of writing, or a separator of lines or paragraphs. Letters that are
// written from right to left need none of them.
func misleads(r rune) bool {
	return r >= '\u2028' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

func plainRune(r rune) rune {
	if r != '\n' && r != '\t' && unicode.IsControl(r) {
		return utf8.RuneError
	}
	return r
}

// inLine is Plain for what must stay in its line.
func inLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, visible(text))
}

// Screen is standard output or standard error: what is written to it reaches the
// terminal, or the pager behind it, without characters that a terminal obeys.
type Screen struct {
	w io.Writer
	// begin is what stands for the start of a mark of Style. Nobody outside this
	// process can know it, so names cannot forge one.
	begin string

	mu   sync.Mutex
	held []byte // the start of a rune or of a mark, whose end comes with the next write
}

// NewScreen returns the screen on w. Close writes what is held.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w, begin: "\x00" + rand.Text()} }

// Data returns what text for programs is written to: the screen for people, and
// otherwise what is behind it, so that values stay as they are.
func Data(w io.Writer) io.Writer {
	if s, ok := w.(*Screen); ok && !IsTerminal(w) {
		return s.w
	}
	return w
}

// Write writes p without control characters. Line ends and tabs stay; a carriage
// return before a line end goes without trace.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.held, p...)
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		n := 0
		for n < len(text) && (text[n] >= ' ' && text[n] < 0x7f || text[n] == '\n') { // nearly everything
			n++
		}
		if n > 0 {
			out, text = append(out, text[:n]...), text[n:]
			continue
		}
		n = s.next(&out, text)
		if n == 0 {
			break
		}
		text = text[n:]
	}
	s.held = append([]byte(nil), text...)
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// next appends the first character of a text, and returns its length; 0 if the
// text ends within it.
func (s *Screen) next(out *[]byte, text []byte) int {
	switch c := text[0]; {
	case c == 0 && strings.HasPrefix(string(text[:min(len(text), len(s.begin))]), s.begin):
		*out = append(*out, escape...)
		return len(s.begin)
	case c == 0 && len(text) < len(s.begin) && strings.HasPrefix(s.begin, string(text)):
		return 0
	case c == '\r' && len(text) == 1:
		return 0
	case c == '\r' && text[1] == '\n':
		return 1
	case c >= utf8.RuneSelf && !utf8.FullRune(text):
		return 0
	}
	r, n := utf8.DecodeRune(text)
	if misleads(r) {
		*out = append(*out, visible(string(r))...)
	} else {
		*out = utf8.AppendRune(*out, plainRune(r))
	}
	return n
}

// Close writes what was held back; it does not close what is behind the screen.
func (s *Screen) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.w.Write([]byte(Plain(string(s.held))))
	s.held = nil
	return err
}

// escape begins what a terminal obeys.
const escape = "\x1b["
