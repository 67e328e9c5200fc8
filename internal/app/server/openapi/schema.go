package openapi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strings"
)

// Schema is the part of JSON Schema that our messages need.
type Schema struct {
	Ref        string             `json:"$ref,omitempty"`
	Type       string             `json:"type,omitempty"` // empty with neither Ref nor OneOf: anything
	Items      *Schema            `json:"items,omitempty"`
	MinItems   int                `json:"minItems,omitempty"`
	MaxItems   int                `json:"maxItems,omitempty"`
	Properties map[string]*Schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Values     *Schema            `json:"additionalProperties,omitempty"`
	OneOf      []*Schema          `json:"oneOf,omitempty"`

	// Order is the names of Properties as the Go type has them.
	Order []string `json:"-"`
}

// schemas are the named types of the messages.
type schemas struct {
	byName map[string]*Schema
	names  map[reflect.Type]string
}

const refPrefix = "#/components/schemas/"

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	notOfNames    = regexp.MustCompile(`[^A-Za-z0-9_]+`)
)

// of describes how encoding/json writes a type, or says why it cannot.
func (s *schemas) of(t reflect.Type) (*Schema, error) {
	switch {
	case t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler):
		return nil, fmt.Errorf("%v writes its own JSON, which its type does not show", t)
	case t.Implements(textMarshaler):
		return &Schema{Type: "string"}, nil
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Schema{Type: "boolean"}, nil
	case reflect.String:
		return &Schema{Type: "string"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Schema{Type: "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return &Schema{Type: "number"}, nil
	case reflect.Interface:
		return &Schema{}, nil
	case reflect.Pointer:
		to, err := s.of(t.Elem())
		return &Schema{OneOf: []*Schema{to, {Type: "null"}}}, err
	case reflect.Slice, reflect.Array:
		return s.list(t)
	case reflect.Map:
		values, err := s.of(t.Elem())
		return &Schema{Type: "object", Values: values}, err
	case reflect.Struct:
		return s.object(t)
	}
	return nil, fmt.Errorf("%v cannot travel as JSON", t)
}

func (s *schemas) list(t reflect.Type) (*Schema, error) {
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return &Schema{Type: "string"}, nil // base64
	}
	items, err := s.of(t.Elem())
	out := &Schema{Type: "array", Items: items}
	if t.Kind() == reflect.Array {
		out.MinItems, out.MaxItems = t.Len(), t.Len()
	}
	return out, err
}

// object describes a struct, by reference if it has a name.
func (s *schemas) object(t reflect.Type) (*Schema, error) {
	out := &Schema{Type: "object", Properties: map[string]*Schema{}}
	if t.Name() == "" {
		return out, s.fields(t, out)
	}
	if name, ok := s.names[t]; ok {
		return &Schema{Ref: refPrefix + name}, nil
	}
	name := s.name(t)
	s.names[t], s.byName[name] = name, out // before its fields: a type may hold itself
	if err := s.fields(t, out); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Schema{Ref: refPrefix + name}, nil
}

// name is what a type is called: two of one name in different packages are told
// apart by the package.
func (s *schemas) name(t reflect.Type) string {
	name := strings.Trim(notOfNames.ReplaceAllString(t.Name(), "_"), "_")
	if _, taken := s.byName[name]; taken {
		owner := path.Base(t.PkgPath())
		name = strings.ToUpper(owner[:1]) + owner[1:] + name
	}
	return name
}

// fields adds what encoding/json writes of a struct.
func (s *schemas) fields(t reflect.Type, to *Schema) error {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && embedded(f.Type).Kind() == reflect.Struct {
			if err := s.fields(embedded(f.Type), to); err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		typ := f.Type
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		if optional && typ.Kind() == reflect.Pointer {
			typ = typ.Elem() // left out, never null
		}
		field, err := s.of(typ)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, hidden := to.Properties[name]; !hidden {
			to.Order = append(to.Order, name)
		}
		to.Properties[name] = field
		if !optional {
			to.Required = append(to.Required, name)
		}
	}
	return nil
}

func embedded(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
