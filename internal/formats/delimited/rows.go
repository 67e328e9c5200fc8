package delimited

import "bytes"

// lineScanner finds where rows end: at the end of a line, unless a quoted cell
// goes on in the next one.
type lineScanner struct {
	comma byte
	want  int // cells of a row; 0: any number
	// patience is how many rows may turn out to have an opening quote that
	// nothing closes, before quotes are taken for ordinary characters: looking
	// for the end of each would take the square of the file.
	patience int
}

const (
	quotePatience = 100
	maxQuoted     = 64 << 10 // a longer cell is a quote that nobody closes
)

// rowEnd returns the row at the start of data without its line end, how much of
// data it takes, and how many line ends are inside.
func (s *lineScanner) rowEnd(data []byte) (row []byte, size, inside int) {
	line, size := lineEnd(data)
	if s.patience == 0 || bytes.IndexByte(line, '"') < 0 {
		return line, size, 0
	}
	end := quotedEnd(data[:min(len(data), maxQuoted)], s.comma)
	if end >= 0 && end <= size {
		return line, size, 0
	}
	if end > 0 {
		row := trimEnd(data[:end])
		if s.want == 0 || len(split(nil, row, s.comma)) == s.want {
			return row, end, bytes.Count(row, []byte("\n"))
		}
	}
	s.patience--
	return line, size, 0
}

// lineEnd returns the first line and how much of data it takes.
func lineEnd(data []byte) (line []byte, size int) {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		return data, len(data)
	}
	return trimEnd(data[:i+1]), i + 1
}

// trimEnd cuts off a line end.
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// quotedEnd is the length of the first row, line end included, if line ends
// inside quoted cells are part of them; negative if a quote is not closed.
func quotedEnd(data []byte, comma byte) int {
	for at := 0; at < len(data); {
		if data[at] != '"' {
			_, size := lineEnd(data[at:])
			i := bytes.IndexByte(data[at:at+size], comma)
			if i < 0 {
				return at + size
			}
			at += i + 1
			continue
		}
		end := closing(data[at:], comma)
		if end < 0 {
			return -1
		}
		at += end + 1
		if at == len(data) || data[at] != comma {
			_, size := lineEnd(data[at:])
			return at + size
		}
		at++
	}
	return len(data)
}

// closing is the place of the quote that closes the first cell: a separator, a
// line end or nothing follows it. Negative if there is none.
func closing(data []byte, comma byte) int {
	for i := 1; i < len(data); i++ {
		if data[i] != '"' {
			continue
		}
		rest := data[i+1:]
		switch {
		case len(rest) == 0 || rest[0] == comma || rest[0] == '\n' || bytes.HasPrefix(rest, []byte("\r\n")):
			return i
		case rest[0] == '"':
			i++
		}
	}
	return -1
}

// multiline reports whether a row of the text has a line end inside a cell.
func multiline(body []byte, opt *Options) bool {
	if bytes.IndexByte(body, '"') < 0 {
		return false
	}
	s := opt.scanner()
	for len(body) > 0 {
		_, size, inside := s.rowEnd(body)
		if inside > 0 {
			return true
		}
		body = body[size:]
	}
	return false
}

func (o *Options) scanner() *lineScanner {
	return &lineScanner{comma: o.Comma, want: len(o.Names), patience: quotePatience}
}
