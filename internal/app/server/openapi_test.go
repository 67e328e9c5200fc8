package server

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/openapi"
	"github.com/isobath/isobath/internal/base/test"
)

// TestDescription holds that the document has every route of the table, and
// that answers have the shape it says.
func TestDescription(t *testing.T) {
	s := newTestServer(t, nil)
	document := get[openapi.Document](t, do(s, "GET", prefix+"openapi.json", ""), 200)
	ids := map[string]bool{}
	for _, route := range s.Table() {
		name := route.Method + " " + route.Path
		o := document.Paths["/"+route.Path][strings.ToLower(route.Method)]
		if o == nil || o.Summary != route.Does || o.Access != route.Access || ids[o.ID] {
			t.Errorf("%s is described as %+v", name, o)
			continue
		}
		ids[o.ID] = true
		w := do(s, route.Method, address(&route), "{}")
		if len(s.runs) == 0 {
			s.Add(sixSamples(t)) // it was closed
		}
		response, ok := o.Responses[fmt.Sprint(w.Code)]
		if w.Code >= 400 {
			response, ok = o.Responses["default"], true
		}
		if !ok {
			t.Errorf("%s answers %d, which is not described", name, w.Code)
		}
		if media := response.Content[frame.TypeJSON]; media.Schema != nil {
			differences(t, name, &document, media.Schema, get[any](t, w, w.Code))
		}
	}
	if len(ids) != len(s.Table()) {
		t.Errorf("%d routes are described, there are %d", len(ids), len(s.Table()))
	}
}

// differences says where a value has another shape than its schema.
func differences(t *testing.T, at string, d *openapi.Document, s *openapi.Schema, value any) {
	t.Helper()
	if s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	switch {
	case s == nil:
		t.Errorf("%s refers to nothing", at)
		return
	case s.OneOf != nil:
		if value != nil {
			differences(t, at, d, s.OneOf[0], value)
		}
		return
	case s.Type == "":
		return
	}
	kind := map[string]string{"string": "string", "float64": "number", "bool": "boolean", "[]interface {}": "array", "map[string]interface {}": "object"}[fmt.Sprintf("%T", value)]
	if n, ok := value.(float64); ok && s.Type == "integer" && n == float64(int64(n)) {
		kind = "integer"
	}
	if kind != s.Type {
		t.Errorf("%s is %v, want %s", at, value, s.Type)
		return
	}
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			differences(t, fmt.Sprintf("%s[%d]", at, i), d, s.Items, item)
		}
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := value[name]; !ok {
				t.Errorf("%s has no %s", at, name)
			}
		}
		for name, item := range value {
			field := s.Properties[name]
			if field == nil {
				field = s.Values
			}
			if field == nil {
				t.Errorf("%s has %s, which is not described", at, name)
				continue
			}
			differences(t, at+"."+name, d, field, item)
		}
	}
}

func TestDescriptionRefusesUnknown(t *testing.T) {
	for _, c := range []struct {
		takes any
		says  string
	}{
		{make(chan int), "chan int"},
		{struct{ Raw json.RawMessage }{}, "RawMessage"},
		{struct{ Call func() }{}, "Call"},
	} {
		_, err := openapi.Describe("", prefix, TokenHeader, []frame.Route{{Method: "POST", Path: "x", Takes: c.takes}})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%T: got error %v, want one that says %q", c.takes, err, c.says)
		}
	}
}

const apiHead = `# The API

Made from the table of routes by ` + "`go test ./internal/app/server -run APIDocument -update`" + `. Do not edit.

The page asks the server through these routes, and so can scripts: paths are below ` + "`" + prefix + "`" + `, and the token that
` + "`isobath open`" + ` prints after ` + "`#k=`" + ` goes into the header ` + "`" + TokenHeader + "`" + `. The same table for programs is
` + "`GET " + prefix + "openapi.json`" + ` (OpenAPI 3.1).

`

// TestAPIDocument keeps docs/api.md equal to the table of routes.
func TestAPIDocument(t *testing.T) {
	table := newTestServer(t, nil).Table()
	document, err := openapi.Describe("", prefix, TokenHeader, table)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	out.WriteString(apiHead)
	for _, sentence := range strings.SplitAfter(openapi.About, ". ") {
		out.WriteString(strings.TrimSpace(sentence) + "\n")
	}
	kind := ""
	for _, route := range table {
		if route.Kind != kind {
			kind = route.Kind
			fmt.Fprintf(&out, "\n## %s\n\n| route | who | what it does | takes | answers | command |\n|---|---|---|---|---|---|\n", kind)
		}
		o := document.Paths["/"+route.Path][strings.ToLower(route.Method)]
		command := ""
		if o.Command != "" {
			command = "`" + o.Command + "`"
		}
		fmt.Fprintf(&out, "| `%s %s` | %s | %s | %s | %s | %s |\n", route.Method, route.Path, o.Access, o.Summary, takenBy(&route, o), answeredBy(&route, o), command)
	}
	out.WriteString("\n## Shapes\n\nA `?` marks a field that may be left out.\n\n```\n")
	for _, name := range slices.Sorted(maps.Keys(document.Components.Schemas)) {
		fmt.Fprintf(&out, "%s {\n", name)
		s := document.Components.Schemas[name]
		for _, field := range s.Order {
			mark := ""
			if !slices.Contains(s.Required, field) {
				mark = "?"
			}
			fmt.Fprintf(&out, "  %s%s: %s\n", field, mark, shape(s.Properties[field]))
		}
		out.WriteString("}\n\n")
	}
	text := strings.TrimRight(out.String(), "\n") + "\n```\n"
	compareFile(t, filepath.Join(test.Root(), "docs", "api.md"), []byte(text))
}

func takenBy(r *frame.Route, o *openapi.Operation) string {
	var parts []string
	if len(r.Query) > 0 {
		parts = append(parts, "`?"+strings.Join(r.Query, "=…&")+"=…`")
	}
	if o.Body != nil {
		parts = append(parts, contents(o.Body.Content))
	}
	return strings.Join(parts, ", ")
}

func answeredBy(r *frame.Route, o *openapi.Operation) string {
	text := contents(o.Responses[fmt.Sprint(r.Success())].Content)
	if r.Watchable {
		text, _, _ = strings.Cut(text, ";")
		text += "; as events too"
	}
	if r.Success() != http.StatusOK {
		text = strings.TrimSpace(fmt.Sprint(r.Success(), " ", text))
	}
	return text
}

// contents lists types of content with their shapes; JSON is not named.
func contents(of map[string]openapi.Media) string {
	var parts []string
	for _, typ := range slices.Sorted(maps.Keys(of)) {
		switch s := of[typ].Schema; {
		case s == nil:
			parts = append(parts, typ)
		case typ == frame.TypeJSON:
			parts = append(parts, "`"+shape(s)+"`")
		default:
			parts = append(parts, fmt.Sprintf("`%s` as %s", shape(s), typ))
		}
	}
	return strings.Join(parts, "; ")
}

func shape(s *openapi.Schema) string {
	switch {
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, "#/components/schemas/")
	case s.OneOf != nil:
		return shape(s.OneOf[0]) + " or null"
	case s.Items != nil && s.MaxItems > 0:
		return fmt.Sprintf("%s[%d]", shape(s.Items), s.MaxItems)
	case s.Items != nil:
		return shape(s.Items) + "[]"
	case s.Values != nil:
		return "{name: " + shape(s.Values) + "}"
	case s.Type == "object":
		var fields []string
		for _, name := range s.Order {
			fields = append(fields, name+": "+shape(s.Properties[name]))
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case s.Type == "":
		return "anything"
	}
	return s.Type
}
