package advice

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/isobath/isobath/internal/locality/layout"
)

// comment begins a comment of the language that uses the object.
func (p *profile) comment() string {
	if p.fortran {
		return "!"
	}
	return "//"
}

// structCode writes a structure in the language that uses the object.
func (p *profile) structCode(part string, fields []int, at []uint64, size uint64) string {
	if p.fortran {
		return fortranType(p.object, part, fields, at, size)
	}
	return structCode(p.object, part, fields, at, size)
}

// partsCode declares the arrays of an object that is split.
func (p *profile) partsCode() string {
	o := p.object
	if p.fortran {
		return fmt.Sprintf("type(%s), allocatable :: hot(:)\ntype(%s), allocatable :: cold(:) ! element i of %s is hot(i) and cold(i)\n", partName(o, "hot"), partName(o, "cold"), o.Name)
	}
	return fmt.Sprintf("struct %s *hot; struct %s *cold; // element i of %s is hot[i] and cold[i]\n", partName(o, "hot"), partName(o, "cold"), o.Name)
}

// arrayCode declares a field as an array of its own.
func (p *profile) arrayCode(f layout.Field) string {
	if p.fortran {
		return fortranField(f, p.object.Elements()) + "\n"
	}
	return declaration(f, fmt.Sprintf("[%d]", p.object.Elements())) + ";\n"
}

// inC marks code that Fortran has no words for.
func inC(code string) string {
	var b strings.Builder
	for line := range strings.Lines(code) {
		b.WriteString("! in C: " + line)
	}
	return b.String()
}

// fortranType is structCode in Fortran. The members of a type without sequence lie
// as in C.
func fortranType(o *layout.Object, part string, fields []int, at []uint64, size uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "type :: %s ! %d bytes", partName(o, part), size)
	if per := lineBytes / max(size, 1); per > 1 {
		fmt.Fprintf(&b, ", %d a line", per)
	}
	b.WriteString("\n")
	for i, f := range fields {
		fmt.Fprintf(&b, "  %s ! %d\n", fortranField(o.Fields[f], 0), at[i])
	}
	fmt.Fprintf(&b, "end type\n")
	return b.String()
}

// fortranField declares a field, with one more extent of so many elements unless
// there are none. A type that is not known has its size.
func fortranField(f layout.Field, elements uint64) string {
	kind, dims := f.Type, ""
	if i := strings.Index(kind, ")("); i >= 0 {
		kind, dims = kind[:i+1], strings.Trim(kind[i+1:], "()")
	}
	switch {
	case strings.HasPrefix(kind, "character"):
		kind, dims = fmt.Sprintf("character(len=%d)", f.Size), ""
	case kind == "" || strings.ContainsAny(kind, "*[") || kind == "pointer":
		dims = ""
		if kind = fmt.Sprintf("character(len=%d)", f.Size); f.Size <= 8 && f.Size&(f.Size-1) == 0 {
			kind = fmt.Sprintf("integer(kind=%d)", f.Size)
		}
	case !strings.Contains(kind, "("):
		kind = fmt.Sprintf("type(%s)", kind)
	}
	var extents []string
	if dims != "" {
		extents = append(extents, dims)
	}
	if elements > 0 {
		extents = append(extents, fmt.Sprint(elements))
	}
	out := kind + " :: " + identifier(f.Name)
	if len(extents) > 0 {
		out += "(" + strings.Join(extents, ",") + ")"
	}
	return out
}

// structCode writes a structure with the offsets of its members.
func structCode(o *layout.Object, part string, fields []int, at []uint64, size uint64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "struct %s { // %d bytes", partName(o, part), size)
	if per := lineBytes / max(size, 1); per > 1 {
		fmt.Fprintf(&b, ", %d a line", per)
	}
	b.WriteString("\n")
	end := uint64(0)
	for i := 0; i < len(fields); {
		if at[i] > end {
			fmt.Fprintf(&b, "\t// hole of %d bytes\n", at[i]-end)
		}
		text, n := member(o, fields[i:], at[i:])
		fmt.Fprintf(&b, "\t%s; // %d\n", text, at[i])
		i += n
		end = at[i-1] + o.Fields[fields[i-1]].Size
	}
	if size > end {
		fmt.Fprintf(&b, "\t// hole of %d bytes\n", size-end)
	}
	b.WriteString("};\n")
	return b.String()
}

// member declares the first of some fields, and those after it that are the rest
// of the same small array, all of it and in order.
func member(o *layout.Object, fields []int, at []uint64) (text string, n int) {
	f := o.Fields[fields[0]]
	base, _, indexed := strings.Cut(f.Name, "[")
	whole := 0 // elements of the array in the structure as it is
	for _, g := range o.Fields {
		if name, _, _ := strings.Cut(g.Name, "["); indexed && name == base {
			whole++
		}
	}
	for n = 0; n < whole && n < len(fields); n++ {
		if o.Fields[fields[n]].Name != fmt.Sprintf("%s[%d]", base, n) || at[n] != at[0]+uint64(n)*f.Size {
			break
		}
	}
	if whole < 2 || n < whole {
		return declaration(f, ""), 1
	}
	f.Name = base
	return declaration(f, fmt.Sprintf("[%d]", whole)), whole
}

// partName names the structure of a part of an object.
func partName(o *layout.Object, part string) string {
	base, _, _ := strings.Cut(o.Type, "[")
	base = strings.TrimSpace(strings.TrimPrefix(base, "struct "))
	if base == "" || o.Known == layout.Inferred {
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
		kind, dims = bytesOf(f)
	case "pointer":
		kind = "void *"
	}
	if !strings.HasSuffix(kind, "*") {
		kind += " "
	}
	return kind + identifier(f.Name) + more + dims
}

// bytesOf is a type with the size and the alignment of a field whose type has no
// name.
func bytesOf(f layout.Field) (kind, dims string) {
	a := alignOfField(f)
	if f.Size == a && a <= 8 {
		return fmt.Sprintf("uint%d_t", 8*a), ""
	}
	if a == 1 {
		return "char", fmt.Sprintf("[%d]", f.Size)
	}
	return fmt.Sprintf("_Alignas(%d) char", a), fmt.Sprintf("[%d]", f.Size)
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

// cExpression is a name that stands in code as it is.
var cExpression = regexp.MustCompile(`^[A-Za-z_]\w*(?:(?:\.|->)[A-Za-z_]\w*|\[\w*\])*$`)

// variable is what code calls an object.
func variable(o *layout.Object) string {
	if cExpression.MatchString(o.Name) {
		return o.Name
	}
	return identifier(o.Name)
}

// isVariable says that the program declares an object: nobody allocates it, and code
// that assigns its address is none.
func isVariable(o *layout.Object) bool { return o.Sized && o.Known == layout.ByType }

// reference is the address of a variable.
func reference(o *layout.Object) string { return "&" + variable(o) }

// called says of which object code speaks, where it cannot by its name.
func called(o *layout.Object) string {
	if name := variable(o); name != o.Name {
		return fmt.Sprintf("// %s is %s\n", name, o.Name)
	}
	return ""
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
