package refscsv

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/refs"
)

// Write writes all of src as CSV, with the columns src has.
func Write(w io.Writer, src refs.Source) error {
	out := bufio.NewWriterSize(w, 256<<10)
	about := src.About()
	cols := present(about.Has)
	out.WriteString(strings.Join(cols, ",") + "\n")
	seq := uint64(0)
	var line []byte
	err := refs.Each(src, func(batch []refs.Ref) error {
		for i := range batch {
			line = appendRef(line[:0], cols, seq, &batch[i], about)
			seq++
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

func present(has refs.Fields) []string {
	cols := []string{"seq"}
	if has&refs.HasThread != 0 {
		cols = append(cols, "thread")
	}
	cols = append(cols, "op", "addr")
	if has&refs.HasSize != 0 {
		cols = append(cols, "size")
	}
	if has&refs.HasPC != 0 {
		cols = append(cols, "pc")
	}
	if has&refs.HasPlace != 0 {
		cols = append(cols, "func", "file", "line")
	}
	if has&refs.HasObject != 0 {
		cols = append(cols, "object", "offset")
	}
	return cols
}

func appendRef(b []byte, cols []string, seq uint64, ref *refs.Ref, about *refs.About) []byte {
	var p refs.Place
	if int(ref.Place) < len(about.Places) {
		p = about.Places[ref.Place]
	}
	var o refs.Object
	if int(ref.Object) < len(about.Objects) {
		o = about.Objects[ref.Object]
	}
	for i, c := range cols {
		if i > 0 {
			b = append(b, ',')
		}
		switch c {
		case "seq":
			b = strconv.AppendUint(b, seq, 10)
		case "thread":
			b = strconv.AppendUint(b, uint64(ref.Thread), 10)
		case "op":
			b = append(b, ref.Op.String()...)
		case "addr":
			b = strconv.AppendUint(append(b, "0x"...), ref.Addr, 16)
		case "size":
			b = strconv.AppendUint(b, uint64(ref.Size), 10)
		case "pc":
			b = strconv.AppendUint(append(b, "0x"...), ref.PC, 16)
		case "func":
			b = appendText(b, p.Function)
		case "file":
			b = appendText(b, p.File)
		case "line":
			b = strconv.AppendInt(b, int64(p.Line), 10)
		case "object":
			b = appendText(b, o.Name)
		case "offset":
			if o.Name != "" {
				b = strconv.AppendUint(b, ref.Addr-o.Start, 10)
			}
		}
	}
	return append(b, '\n')
}

func appendText(b []byte, s string) []byte {
	if !strings.ContainsAny(s, ",\"\n\r") {
		return append(b, s...)
	}
	s = strings.NewReplacer(`"`, `""`, "\n", " ", "\r", " ").Replace(s)
	return append(append(append(b, '"'), s...), '"')
}
