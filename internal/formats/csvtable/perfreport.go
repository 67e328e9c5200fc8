package csvtable

import (
	"bytes"
	"strings"
)

// perfReport is the table in what perf report and perf mem report print with a
// separator between cells (-x, and -t,): lines about the recording before the names,
// which stand in a comment, cells filled up with blanks, call chains below rows, and
// a tip at the end. It is nil for other texts, and for a report in columns of blanks.
func perfReport(data []byte) []byte {
	if !bytes.HasPrefix(data, []byte("# To display the perf.data header info")) {
		return nil
	}
	var out bytes.Buffer
	comma, width, header := byte(','), 0, ""
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, "\r\n")
		if names, ok := bytes.CutPrefix(line, []byte("# Overhead")); ok {
			comma = separator(line)
			if comma == '\t' || bytes.IndexByte(names, comma) >= 0 {
				header = trimmed(line[2:], comma)
			}
			if width == 0 && header != "" {
				width = strings.Count(header, string(comma)) + 1
				out.WriteString(header + "\n")
			}
			continue
		}
		if width == 0 || len(line) == 0 || line[0] == '#' || bytes.Count(line, []byte{comma})+1 != width {
			continue // about the recording, or a chain of callers
		}
		out.WriteString(trimmed(line, comma) + "\n")
	}
	if width < 2 {
		return nil
	}
	return out.Bytes()
}

func trimmed(line []byte, comma byte) string {
	cells := strings.Split(string(line), string(comma))
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return strings.Join(cells, string(comma))
}
