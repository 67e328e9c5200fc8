package perftext

import (
	"path"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/datasrc"
)

// reportHeader is the line of perf mem report -D that names its columns.
type reportHeader struct {
	names []string
}

// read takes the header; it reports whether line is one.
func (h *reportHeader) read(line string) bool {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
	if !ok {
		return false
	}
	names := strings.Split(text, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	if len(names) < 6 || names[0] != "PID" || names[1] != "TID" || names[len(names)-1] != "SYMBOL" {
		return false
	}
	h.names = names
	return true
}

// row reads a data row.
func (h *reportHeader) row(line string) (*sample, bool) {
	if h.names == nil {
		return nil, false
	}
	words := h.split(line)
	if len(words) < len(h.names) {
		return nil, false
	}
	s := &sample{}
	for i, name := range h.names[:len(h.names)-1] {
		if !s.set(name, words[i]) {
			return nil, false
		}
	}
	file, symbol, _ := cutLast(strings.Join(words[len(h.names)-1:], " "), ":")
	s.function = symbolOf(symbol)
	if s.module = file; !strings.HasPrefix(file, "[") && file != "" {
		s.module = path.Base(file)
	}
	return s, true
}

// split cuts a row at blanks, or at what -x gave.
func (h *reportHeader) split(line string) []string {
	if words := strings.Fields(line); len(words) >= len(h.names) {
		return words
	}
	if strings.Count(line, ",") >= len(h.names)-1 {
		words := strings.SplitN(line, ",", len(h.names))
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
		}
		return words
	}
	return strings.Fields(line)
}

func (s *sample) set(column, text string) bool {
	v, err := strconv.ParseUint(unprefixed(text), base(text), 64)
	if err != nil {
		return false
	}
	switch column {
	case "PID":
		s.pid, s.has = int64(v), s.has|hasPID
	case "TID":
		s.tid, s.has = int64(v), s.has|hasTID
	case "IP":
		s.ip, s.has = v, s.has|hasIP
	case "ADDR":
		s.addr, s.has = v, s.has|hasAddr
	case "LOCAL WEIGHT", "WEIGHT":
		s.weights[0], s.has = int64(v), s.has|hasWeight
	case "DSRC":
		s.dataSrc, s.access = v, datasrc.Perf(v)
		s.has |= hasDataSrc | hasAccess
	}
	return true
}

// unprefixed strips 0x, and the "016" that perf 3.12 to 6.1 prints before the
// first address because its format string has %0#16 split in two. No correct
// hexadecimal number begins with a zero.
func unprefixed(text string) string {
	digits, hex := strings.CutPrefix(text, "0x")
	if hex && len(digits) > 3 {
		digits = strings.TrimPrefix(digits, "016")
	}
	return digits
}

func base(text string) int {
	if strings.HasPrefix(text, "0x") {
		return 16
	}
	return 10
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
