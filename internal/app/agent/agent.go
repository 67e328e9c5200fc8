// Package agent answers questions of agents and editors: a server of the Model
// Context Protocol on a pair of streams. Every question is a command of this
// program, run as a process of its own, so that each answer can be had again in a
// shell, one that goes wrong ends nothing else, and one that nobody waits for any
// more is ended.
//
// An agent can ask only about the files that the server was started with: it says
// their short names, and no parameter of any tool is a path or a flag.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/isobath/isobath/internal/base/parallel"
)

// Output is what a command printed.
type Output struct {
	Out, Messages []byte
	Code          int
}

// Options are what a server is started with.
type Options struct {
	Files   []string // absolute paths
	Version string
	// Run runs a command of this program to its end.
	Run func(ctx context.Context, args []string) (Output, error)
	// Bytes bounds an answer, Patience how long one may take.
	Bytes    int
	Patience time.Duration
}

// Server answers an agent.
type Server struct {
	opt   Options
	paths map[string]string // by short name
	names []string          // in the order given
	busy  chan struct{}     // commands that run

	mu    sync.Mutex
	about map[string]any // what info says, by short name
}

// commandsAtOnce bounds how many commands run: each may take all processors.
const commandsAtOnce = 2

// New returns a server for some files.
func New(opt Options) *Server {
	s := &Server{opt: opt, paths: map[string]string{}, about: map[string]any{}, busy: make(chan struct{}, commandsAtOnce)}
	for _, path := range opt.Files {
		name := filepath.Base(path)
		for n := 2; s.paths[name] != ""; n++ { // two runs of one name
			name = fmt.Sprintf("%s (%d)", filepath.Base(path), n)
		}
		s.paths[name] = path
		s.names = append(s.names, name)
	}
	return s
}

const instructions = `Isobath explains why programs are slow, from recordings of memory accesses (samples), of every memory reference (refs) and of messages (trace).
Begin with open. Then ask insights (samples), steps (trace) or advise (refs); follow a finding with report and source under its selection (where). diff compares two runs.
Quote numbers with their provenance: modelled is not measured. Every answer has the command that gives it again. An empty list of findings means that nothing was found, not that all is well with what was not recorded.`

// Serve answers until the stream ends or the context does.
func (s *Server) Serve(ctx context.Context, transport mcp.Transport) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "isobath", Title: "Isobath", Version: s.opt.Version}, &mcp.ServerOptions{Instructions: instructions})
	for _, t := range tools() {
		server.AddTool(&mcp.Tool{
			Name: t.name, Description: t.about, InputSchema: t.schema(s.names),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true},
		}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var text []byte
			err := parallel.Safely(func() (err error) {
				text, err = s.answer(ctx, &t, r.Params.Arguments)
				return err
			})
			if err != nil { // the agent may ask better
				return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
			}
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text)}, nil
		})
	}
	return server.Run(ctx, transport)
}

// answer asks the command of a tool.
func (s *Server) answer(ctx context.Context, t *tool, arguments json.RawMessage) ([]byte, error) {
	values := map[string]any{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &values); err != nil {
			return nil, fmt.Errorf("arguments: %w", err)
		}
	}
	if err := t.check(values, s.names); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.Patience)
	defer cancel()
	about, err := s.info(ctx, s.firstFile(t, values))
	if err != nil {
		return nil, err
	}
	args := t.arguments(values, func(name string) string { return s.paths[name] })
	a := Answer{Command: commandLine(args), Provenance: provenanceOf(t.provenance, about)}
	a.Selection, _ = values["where"].(string)
	if t.verb == "info" {
		a.Answer = about
		if t.name == "open" {
			a.Answer, a.Next = digest(about), fitting(about)
		}
		return a.fit(s.opt.Bytes)
	}
	out, err := s.run(ctx, args)
	if err != nil {
		return nil, err
	}
	a.Notes = notes(out.Messages)
	if a.Answer, err = decode(out.Out); err != nil {
		return nil, fmt.Errorf("the answer of %s is no JSON: %w", a.Command, err)
	}
	return a.fit(s.opt.Bytes)
}

// firstFile is the short name of the first file of a question.
func (s *Server) firstFile(t *tool, values map[string]any) string {
	for _, p := range t.parameters {
		if p.kind == "file" {
			name, _ := values[p.name].(string)
			return name
		}
	}
	return ""
}

// info is what `isobath info` says about a file, asked once.
func (s *Server) info(ctx context.Context, name string) (any, error) {
	s.mu.Lock()
	known := s.about[name]
	s.mu.Unlock()
	if known != nil {
		return known, nil
	}
	out, err := s.run(ctx, []string{"info", "--json", s.paths[name]})
	if err != nil {
		return nil, err
	}
	about, err := decode(out.Out)
	if err != nil {
		return nil, fmt.Errorf("what %s holds: %w", name, err)
	}
	s.mu.Lock()
	s.about[name] = about
	s.mu.Unlock()
	return about, nil
}

// run runs a command when it is its turn. A gate that fails has an answer too.
func (s *Server) run(ctx context.Context, args []string) (Output, error) {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	case <-ctx.Done():
		return Output{}, ctx.Err()
	}
	out, err := s.opt.Run(ctx, args)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return out, fmt.Errorf("no answer after %v; ask about less, with where, range or top, or run: %s", s.opt.Patience, commandLine(args))
	case err != nil:
		return out, err
	case out.Code != 0:
		return out, errors.New(strings.Join(append(notes(out.Messages), fmt.Sprintf("exit code %d of: %s", out.Code, commandLine(args))), "\n"))
	}
	return out, nil
}

// notes are the lines of a command's messages.
func notes(messages []byte) []string {
	var out []string
	for line := range strings.Lines(string(messages)) {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "isobath: ")); line != "" && len(out) < 20 {
			out = append(out, line)
		}
	}
	return out
}

// digest is the short form of what `info` says.
func digest(about any) any {
	all, ok := about.(map[string]any)
	if !ok {
		return about
	}
	out := map[string]any{}
	for key, v := range all {
		if key != "columns" {
			out[key] = v
		}
	}
	columns, _ := all["columns"].([]any)
	var names []any
	for _, c := range columns {
		if column, ok := c.(map[string]any); ok {
			names = append(names, column["name"])
		}
	}
	out["columns"] = names
	return out
}

// fitting are the tools that answer about the kind of data that `info` found.
func fitting(about any) []string {
	all, _ := about.(map[string]any)
	kind, _ := all["kind"].(string)
	var out []string
	for _, t := range tools() {
		if t.kinds == "" || slices.Contains(strings.Fields(t.kinds), kind) {
			out = append(out, t.name)
		}
	}
	return out
}

// commandLine writes a command as a shell reads it.
func commandLine(args []string) string {
	out := "isobath"
	for _, a := range args {
		plain := a != "" && strings.Trim(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+") == ""
		if !plain {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out += " " + a
	}
	return out
}
