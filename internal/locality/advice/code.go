package advice

import (
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/locality/layout"
)

// structCode writes a structure with the offsets of its members.
func structCode(o *layout.Object, part string, fields []int, at []uint64, size uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "struct %s { // %d bytes", partName(o, part), size)
	if per := lineBytes / max(size, 1); per > 1 {
		fmt.Fprintf(&b, ", %d a line", per)
	}
	b.WriteString("\n")
	end := uint64(0)
	for i, f := range fields {
		if at[i] > end {
			fmt.Fprintf(&b, "\t// hole of %d bytes\n", at[i]-end)
		}
		fmt.Fprintf(&b, "\t%s; // %d\n", declaration(o.Fields[f], ""), at[i])
		end = at[i] + o.Fields[f].Size
	}
	if size > end {
		fmt.Fprintf(&b, "\t// hole of %d bytes\n", size-end)
	}
	b.WriteString("};\n")
	return b.String()
}

// partName names the structure of a part of an object.
func partName(o *layout.Object, part string) string {
	base, _, _ := strings.Cut(o.Type, "[")
	base = strings.TrimSpace(strings.TrimPrefix(base, "struct "))
	if base == "" || o.Known != layout.ByType {
		base = identifier(o.Name)
	}
	if part == "" {
		return base
	}
	return base + "_" + part
}

// declaration declares a field as C does, with more extents behind it. A type
// that is not known is bytes.
func declaration(f layout.Field, more string) string {
	kind, dims, _ := strings.Cut(f.Type, "[")
	if dims != "" {
		dims = "[" + dims
	}
	switch kind {
	case "":
		kind, dims = "char", fmt.Sprintf("[%d]", f.Size)
		switch f.Size {
		case 1, 2, 4, 8:
			kind, dims = fmt.Sprintf("uint%d_t", 8*f.Size), ""
		}
	case "pointer":
		kind = "void *"
	}
	if !strings.HasSuffix(kind, "*") {
		kind += " "
	}
	return kind + identifier(f.Name) + more + dims
}

// identifier makes a name that C accepts.
func identifier(name string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r == '_', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		case r == ']':
			return -1
		}
		return '_'
	}, name)
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		return "_" + out
	}
	return out
}

// list writes the names of fields for a map.
func list(o *layout.Object, fields []int) string {
	return strings.ReplaceAll(names(o, fields), ", ", ",")
}

// quote writes the name of an object for a map.
func quote(name string) string {
	if strings.ContainsAny(name, " \"#;") {
		return fmt.Sprintf("%q", name)
	}
	return name
}
