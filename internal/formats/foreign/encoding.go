package foreign

import (
	"bytes"
	"unicode/utf8"
)

// encoding says why a text that no reader recognises may be one in an encoding
// that none reads, and how to change it; empty if it is no such text.
func encoding(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}):
		return "it is text in UTF-16; convert it with 'iconv -f UTF-16 -t UTF-8'"
	case bytes.IndexByte(head, 0) >= 0:
		return ""
	case bytes.IndexByte(head, '\r') >= 0 && bytes.IndexByte(head, '\n') < 0 && utf8.Valid(head):
		return "its lines end in CR alone; convert it with \"tr '\\r' '\\n'\""
	case !validStart(head) && printable(head):
		return "it is text in another encoding than UTF-8, such as Latin-1; convert it with 'iconv -f LATIN1 -t UTF-8'"
	}
	return ""
}

// validStart is utf8.Valid for a text that may be cut inside a letter.
func validStart(head []byte) bool {
	for cut := range min(utf8.UTFMax, len(head)) {
		if utf8.Valid(head[:len(head)-cut]) {
			return true
		}
	}
	return len(head) == 0
}

// printable reports whether nearly all bytes are those of ASCII text, with line
// ends.
func printable(head []byte) bool {
	text := 0
	for _, c := range head {
		if c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t' {
			text++
		}
	}
	return bytes.IndexByte(head, '\n') >= 0 && 20*text >= 19*len(head)
}
