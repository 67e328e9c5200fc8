package parquetfile

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
)

// What a structure says is long is compared with what is left before the library
// makes room for it.
func TestLengthsAreCompared(t *testing.T) {
	long := binary.AppendUvarint(nil, 1<<30)
	for name, tt := range map[string]struct {
		b      []byte
		beyond int64
		want   string
	}{
		"numbers, a text and an end":     {[]byte{0x15, 6, 0x18, 3, 'a', 'b', 'c', 0x11, 0}, 0, ""},
		"a text":                         {append([]byte{0x18}, long...), 100, "a text of 1073741824 bytes where 100 are left"},
		"a text that is all there":       {append([]byte{0x18}, long...), 1 << 30, ""},
		"a text in a structure":          {append([]byte{0x1c, 0x15, 6, 0x18}, long...), 0, "a text of"},
		"a list":                         {append([]byte{0x19, 0xfc}, long...), 0, "a list of"},
		"a text in a list of structures": {append([]byte{0x19, 0x2c, 0x15, 2, 0, 0x18}, long...), 9, "a text of"},
		"a field by its number":          {append([]byte{0x08, 40}, long...), 0, "a text of"},
		"cut":                            {[]byte{0x15}, 0, ""},
		"without end":                    {bytes.Repeat([]byte{0x1c}, 1000), 0, ""},
	} {
		err := (&lengths{tt.b, tt.beyond}).check()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

// A few bytes say that all values of a column are missing, or the same: columns
// count, not rows alone.
func TestValuesAreBounded(t *testing.T) {
	for _, tt := range []struct {
		rows, columns, size int64
		ok                  bool
	}{
		{1 << 20, 4, 500, true},
		{1 << 20, 100, 20_000, false},
		{1 << 20, 100, 1 << 20, true}, // one of the columns has a byte a row
		{maxRows + 1, 1, 1 << 40, false},
		{-1, 1, 1 << 40, false},
	} {
		if err := checkRows(tt.rows, tt.columns, tt.size); (err == nil) != tt.ok {
			t.Errorf("%d rows of %d columns in %d bytes: %v", tt.rows, tt.columns, tt.size, err)
		}
	}
}
