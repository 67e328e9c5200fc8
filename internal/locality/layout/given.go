package layout

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
)

// Given is what the user says about objects: sentences as those of objects.txt,
// or lines "NAME ADDRESS BYTES ELEMENT" with addresses.
type Given struct {
	objects    []Object
	statements []statement
	kept       *keptTypes // nil: those of the program
}

// statement says what the object with a name, or allocated at a line, is.
type statement struct {
	naming symbol.Naming
	// structure is a type of the program, by its name.
	structure string
}

const maxGiven = 10_000

// ReadGiven reads what the user says. A type "struct NAME[100]" is looked up in
// the program when the table is made.
func ReadGiven(r io.Reader) (*Given, error) {
	g := &Given{}
	scan := bufio.NewScanner(io.LimitReader(r, 4<<20))
	for line := 1; scan.Scan(); line++ {
		text, _, _ := strings.Cut(scan.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if len(g.objects)+len(g.statements) == maxGiven {
			return nil, fmt.Errorf("more than %d objects", maxGiven)
		}
		if err := g.add(text); err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	return g, scan.Err()
}

// Declared is objects that are known already, with their addresses.
func Declared(objects []Object) *Given { return &Given{objects: objects} }

// structText is the part of a sentence that names a structure.
var structText = regexp.MustCompile(`\b(?:struct|class|union) ([A-Za-z_][\w:<>, ]*?)(\[\d+\]|\[\])*$`)

func (g *Given) add(text string) error {
	words := strings.Fields(text)
	if len(words) == 4 && strings.HasPrefix(words[1], "0x") {
		o, err := placed(words)
		if err == nil {
			g.objects = append(g.objects, o)
		}
		return err
	}
	s := statement{}
	if m := structText.FindStringSubmatchIndex(text); m != nil {
		s.structure = text[m[2]:m[3]]
		text = strings.TrimSpace(text[:m[0]])
		if strings.HasSuffix(text, " is") {
			text += " char" // the structure comes in its place
		}
	}
	n, err := symbol.ParseNaming(text)
	if err != nil {
		return err
	}
	s.naming = n
	g.statements = append(g.statements, s)
	return nil
}

func placed(words []string) (Object, error) {
	start, err1 := strconv.ParseUint(words[1], 0, 64)
	size, err2 := strconv.ParseUint(words[2], 0, 62)
	elem, err3 := strconv.ParseUint(words[3], 0, 62)
	if err1 != nil || err2 != nil || err3 != nil || size == 0 || elem == 0 || start+size < start || elem > size {
		return Object{}, fmt.Errorf("%q: want NAME ADDRESS BYTES ELEMENT, such as p 0x4052a0 1280000 64", strings.Join(words, " "))
	}
	return Object{Name: words[0], Start: start, Size: size, Elem: elem, Sized: true, Known: ByUser}, nil
}

// site is the place in the name of an allocation: "heat.c:57 8 MiB".
var site = regexp.MustCompile(`^([^ ]+:\d+)( |$)`)

// explain gives an object its type: what the user says of it, else what a
// variable of its name points to.
func (t *Table) explain(o *Object) {
	for i := range t.says {
		s := &t.says[i]
		at := site.FindStringSubmatch(o.Name)
		if s.naming.Object != o.Name && (s.naming.Site == "" || at == nil || at[1] != s.naming.Site) {
			continue
		}
		if s.naming.Name != "" {
			o.Name = s.naming.Name
		}
		if s.structure != "" {
			if t.types != nil {
				o.takeTypeAs(t.types.structure(s.structure), ByUser)
			}
		} else if ty := s.naming.Type(); ty != nil {
			o.apply(ty, ByUser)
		}
		return
	}
	if t.types == nil || o.Known == ByType {
		return
	}
	// An array of the structures that a variable of this name points to. An
	// element size that was given must agree.
	if to := t.types.pointee(o.Name); to != nil && (o.Elem == 0 || o.Elem == to.Elem) {
		o.takeType(to)
	}
}

func indexed(name string, i uint64) string { return fmt.Sprintf("%s[%d]", name, i) }

// elementName is the name of the elements of an array: "double" of "double[8]".
func elementName(name string) string {
	base, _, _ := strings.Cut(name, "[")
	return base
}
