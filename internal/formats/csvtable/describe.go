package csvtable

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats/delimited"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// maxDescription bounds what is read of a file beside a table: hundreds of
// columns with long notes fit.
const maxDescription = 4 << 20

// description returns what is said about the columns of a table, in a comment
// of its own or in the file beside it, and a warning if that cannot be used.
func description(in *foreign.Input, data []byte) (map[string]table.Described, string) {
	text, where := inComment(data), "its first line"
	if text == nil {
		text, where = besides(in)
	}
	if text == nil {
		return nil, ""
	}
	said, err := table.ParseCSVDescription(text)
	if err != nil {
		return nil, fmt.Sprintf("%s describes the columns and cannot be used, so units and origins are unknown: %v", where, err)
	}
	return said, ""
}

// inComment looks at the comment lines before the header.
func inComment(data []byte) []byte {
	for len(data) > 0 && data[0] == '#' {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		if text, ok := table.DescriptionInComment(string(line[:min(len(line), maxDescription)])); ok {
			return text
		}
		data = rest
	}
	return nil
}

// besides reads the file that describes a table; nil if there is none.
func besides(in *foreign.Input) (text []byte, name string) {
	path := table.SidecarOf(in.Known())
	f, err := plainfile.Open(path)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, maxDescription))
	if err != nil {
		return nil, ""
	}
	return text, filepath.Base(path)
}

// types are the forms of cells that a description fixes: names that look like
// numbers, and numbers that happen to be whole.
func types(names []string, said map[string]table.Described) []delimited.Type {
	if said == nil {
		return nil
	}
	out := make([]delimited.Type, len(names))
	for i, name := range names {
		d, ok := said[name]
		switch {
		case ok && d.Kind == table.Category:
			out[i] = delimited.Text
		case ok && d.Kind == table.Number && d.Fractional:
			out[i] = delimited.Float
		}
	}
	return out
}
