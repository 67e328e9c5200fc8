// Package openapi describes the server's table of routes to programs, as an
// OpenAPI 3.1 document.
package openapi

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/app/server/frame"
)

// Document is an OpenAPI document, as far as the API needs it.
type Document struct {
	OpenAPI    string                           `json:"openapi"`
	Info       Info                             `json:"info"`
	Servers    []Server                         `json:"servers"`
	Security   []map[string][]string            `json:"security"`
	Paths      map[string]map[string]*Operation `json:"paths"` // by path and method
	Components Components                       `json:"components"`
}

// Info says what is described.
type Info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

// Server is where paths begin.
type Server struct {
	URL string `json:"url"`
}

// Operation is one route.
type Operation struct {
	ID          string              `json:"operationId"`
	Tags        []string            `json:"tags"`
	Summary     string              `json:"summary"`
	Description string              `json:"description,omitempty"`
	Access      frame.Access        `json:"x-access"`
	Command     string              `json:"x-command,omitempty"`
	Parameters  []Parameter         `json:"parameters,omitempty"`
	Body        *Body               `json:"requestBody,omitempty"`
	Responses   map[string]Response `json:"responses"`
}

// Parameter is a part of an address.
type Parameter struct {
	Name     string  `json:"name"`
	In       string  `json:"in"` // path or query
	Required bool    `json:"required"`
	Schema   *Schema `json:"schema"`
}

// Body is what a request carries.
type Body struct {
	Required bool             `json:"required"`
	Content  map[string]Media `json:"content"`
}

// Media is the shape of one type of content.
type Media struct {
	Schema *Schema `json:"schema,omitempty"`
}

// Response is an answer.
type Response struct {
	Description string           `json:"description"`
	Content     map[string]Media `json:"content,omitempty"`
}

// Components are what operations refer to.
type Components struct {
	Schemas  map[string]*Schema  `json:"schemas"`
	Security map[string]Security `json:"securitySchemes"`
}

// Security is how a client says that it may ask.
type Security struct {
	Type string `json:"type"`
	In   string `json:"in"`
	Name string `json:"name"`
}

// About is what every client must know.
const About = "Whoever has the token of a server may ask it. On a shared server they are viewers, on one's own the owner; " +
	"x-access says who may call a route, x-command which command answers the same in a terminal. An error is answered with its status and a Failure: a sentence, and what to do. " +
	frame.TypeColumns + " is a JSON header followed by binary columns; docs/formats.md has the layout. " +
	frame.TypeEvents + " is server-sent events."

// Describe makes the document of a table of routes whose paths are below prefix.
func Describe(version, prefix, tokenHeader string, table []frame.Route) (*Document, error) {
	s := &schemas{byName: map[string]*Schema{}, names: map[reflect.Type]string{}}
	failure, err := s.of(reflect.TypeFor[frame.Failure]())
	if err != nil {
		return nil, err
	}
	d := &Document{
		OpenAPI:  "3.1.0",
		Info:     Info{Title: "Isobath", Version: version, Description: About},
		Servers:  []Server{{strings.TrimSuffix(prefix, "/")}},
		Security: []map[string][]string{{"token": {}}},
		Paths:    map[string]map[string]*Operation{},
		Components: Components{Schemas: s.byName, Security: map[string]Security{
			"token": {Type: "apiKey", In: "header", Name: tokenHeader}}},
	}
	for i := range table {
		r := &table[i]
		o, err := s.operation(r, failure)
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", r.Method, r.Path, err)
		}
		path := "/" + r.Path
		if d.Paths[path] == nil {
			d.Paths[path] = map[string]*Operation{}
		}
		d.Paths[path][strings.ToLower(r.Method)] = o
	}
	return d, nil
}

func (s *schemas) operation(r *frame.Route, failure *Schema) (*Operation, error) {
	o := &Operation{ID: operationID(r), Tags: []string{r.Kind}, Summary: r.Does, Access: r.Access, Command: r.Command, Responses: map[string]Response{}}
	for _, name := range r.Parameters() {
		o.Parameters = append(o.Parameters, Parameter{Name: name, In: "path", Required: true, Schema: &Schema{Type: "string"}})
	}
	for _, name := range r.Query {
		o.Parameters = append(o.Parameters, Parameter{Name: name, In: "query", Schema: &Schema{Type: "string"}})
	}
	switch {
	case r.Takes != nil:
		body, err := s.of(reflect.TypeOf(r.Takes))
		if err != nil {
			return nil, err
		}
		o.Body = &Body{Required: true, Content: map[string]Media{frame.TypeJSON: {body}}}
	case len(r.TakesFiles) > 0:
		o.Body = &Body{Required: true, Content: map[string]Media{}}
		for _, content := range r.TakesFiles {
			o.Body.Content[content] = Media{}
		}
	}
	success := Response{Description: http.StatusText(r.Success())}
	if content := r.Content(); content != "" {
		success.Content = map[string]Media{content: {}}
		if r.Answers != nil {
			answer, err := s.of(reflect.TypeOf(r.Answers))
			if err != nil {
				return nil, err
			}
			success.Content[content] = Media{answer}
		}
		if r.Watchable {
			o.Description = "With Accept: " + frame.TypeEvents + " it sends events: progress, then done with the answer or failed with a Failure."
			success.Content[frame.TypeEvents] = success.Content[content]
		}
	}
	o.Responses[strconv.Itoa(r.Success())] = success
	o.Responses["default"] = Response{Description: "an error", Content: map[string]Media{frame.TypeJSON: {failure}}}
	return o, nil
}

// operationID names a route for programs that make clients: getRunsIdMesh.
func operationID(r *frame.Route) string {
	id := strings.ToLower(r.Method)
	for _, word := range strings.FieldsFunc(r.Path, func(c rune) bool { return strings.ContainsRune("/.{}", c) }) {
		id += strings.ToUpper(word[:1]) + word[1:]
	}
	return id
}
