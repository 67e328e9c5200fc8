// Package xmlwalk reads XML that may be hostile, element by element, for the
// readers of hardware descriptions.
package xmlwalk

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Limits of what is read. The largest real description seen is half a megabyte
// (512 CPUs); these are far beyond it and still cheap to refuse.
const (
	maxBytes    = 64 << 20
	maxDepth    = 512
	maxElements = 2 << 20
)

// Element is a start tag.
type Element struct {
	Name  string
	attrs []xml.Attr
}

// Attr returns an attribute, or the empty text.
func (e *Element) Attr(name string) string {
	v, _ := e.Lookup(name)
	return v
}

// Lookup returns an attribute and whether it is there.
func (e *Element) Lookup(name string) (string, bool) {
	for _, a := range e.attrs {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// Int returns a whole attribute; a missing one is def.
func (e *Element) Int(name string, def int) (int, error) {
	v, ok := e.Lookup(name)
	if !ok || v == "" {
		return def, nil
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%s has %s=%q; expected a whole number", e.Name, name, short(v))
	}
	return int(n), nil
}

// Size returns a size attribute; a missing or negative one is 0.
func (e *Element) Size(name string) (uint64, error) {
	v, ok := e.Lookup(name)
	if !ok || v == "" || strings.HasPrefix(v, "-") {
		return 0, nil
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s has %s=%q; expected a size in bytes", e.Name, name, short(v))
	}
	return n, nil
}

// Float returns a finite number; a missing or empty attribute is def.
func (e *Element) Float(name string, def float64) (float64, error) {
	v, ok := e.Lookup(name)
	if !ok || v == "" {
		return def, nil
	}
	n, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%s has %s=%q; expected a number", e.Name, name, short(v))
	}
	return n, nil
}

func short(s string) string { return s[:min(len(s), 40)] }

// Visitor sees the elements in document order.
type Visitor interface {
	Start(e *Element) error
	End(name string) error
	Text(s string) error
}

// Walk reads a document. Errors name the line.
func Walk(r io.Reader, v Visitor) error {
	limited := &io.LimitedReader{R: r, N: maxBytes + 1}
	d := xml.NewDecoder(limited)
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	depth, elements := 0, 0
	for {
		token, err := d.Token()
		if limited.N <= 0 {
			return fmt.Errorf("the file is larger than %d MB: not a description of a machine", maxBytes>>20)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		var syntax *xml.SyntaxError
		if errors.As(err, &syntax) {
			return fmt.Errorf("line %d: %s", syntax.Line, syntax.Msg)
		}
		if err == nil {
			err = visit(v, token, &depth, &elements)
		}
		if err != nil {
			line, _ := d.InputPos()
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// visit passes a token on.
func visit(v Visitor, token xml.Token, depth, elements *int) error {
	switch token := token.(type) {
	case xml.StartElement:
		*depth++
		*elements++
		if *depth > maxDepth || *elements > maxElements {
			return errors.New("too many elements, or nested too deeply: not a description of a machine")
		}
		return v.Start(&Element{token.Name.Local, token.Attr})
	case xml.EndElement:
		*depth--
		return v.End(token.Name.Local)
	case xml.CharData:
		if text := bytes.TrimSpace(token); len(text) > 0 {
			return v.Text(string(text))
		}
	}
	return nil
}

// Root returns the name of the first element of a document of which only the
// beginning is given, and its attributes as far as they are complete.
func Root(head []byte) *Element {
	d := xml.NewDecoder(bytes.NewReader(head))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	for {
		token, err := d.RawToken()
		if err != nil {
			return &Element{}
		}
		if e, ok := token.(xml.StartElement); ok {
			return &Element{e.Name.Local, e.Attr}
		}
		if text, ok := token.(xml.CharData); ok && len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))) > 0 {
			return &Element{}
		}
	}
}
