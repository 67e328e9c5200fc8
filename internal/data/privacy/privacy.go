// Package privacy says what a run tells about people and machines, and makes
// runs that do not.
package privacy

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Report is what a run tells about people and machines.
type Report struct {
	Host        string   `json:"host,omitempty"`
	Command     []string `json:"command,omitempty"`
	From        []string `json:"from,omitempty"` // the names of what it was made from
	Environment []string `json:"environment"`    // NAME=value
	Modules     []string `json:"modules"`        // paths of programs and libraries
	Sources     []string `json:"sources"`        // files whose text the run holds
	Columns     []Column `json:"columns"`
}

// Column is a column whose values may name files, hosts or people.
type Column struct {
	Table  string   `json:"table"`
	Name   string   `json:"name"`
	Values int      `json:"values"`
	Shown  []string `json:"shown"` // a few of them
}

// named are the columns that hold such values.
var named = map[string]string{
	samples.File: "file", "host": "host", "module": "module", "object": "", "command": "command", "comm": "command", "user": "user", "dso": "module",
}

// Of looks at a run.
func Of(r *run.Run) Report {
	p := Report{Host: r.Origin.Host, Command: r.Origin.Command, From: r.From, Environment: []string{}, Modules: []string{}, Sources: []string{}, Columns: []Column{}}
	if d := r.Recording; d != nil {
		for name, value := range d.Environment {
			p.Environment = append(p.Environment, name+"="+value)
		}
		slices.Sort(p.Environment)
		for _, m := range d.Modules {
			p.Modules = append(p.Modules, m.Path)
		}
	}
	for _, s := range r.Sources {
		p.Sources = append(p.Sources, s.Name)
	}
	for _, t := range r.Contents {
		for _, c := range t.Columns() {
			if shown := telling(c); shown != nil {
				p.Columns = append(p.Columns, Column{t.Name, c.Name, len(c.Dict), shown})
			}
		}
	}
	return p
}

// telling returns a few values of a column that may say who or where; nil if it
// does not.
func telling(c *table.Column) []string {
	if c.Kind != table.Category || len(c.Dict) == 0 {
		return nil
	}
	if _, known := named[c.Name]; !known && !slices.ContainsFunc(c.Dict, isPath) {
		return nil
	}
	return c.Dict[:min(3, len(c.Dict))]
}

func isPath(value string) bool {
	return filepath.IsAbs(value) || strings.HasPrefix(value, "~/") || strings.HasPrefix(value, `\\`)
}

// Anonymised is a run without paths, hosts, users, command lines, environment and
// source files. Columns keep what analyses need: which rows share a file, and how
// it ends. Names of functions and objects of the program stay.
func Anonymised(r *run.Run) (*run.Run, error) {
	out := &run.Run{Tree: r.Tree, Manifest: run.Manifest{
		Version: run.Version, Kind: r.Kind, Format: r.Format, Imported: r.Imported, Warnings: []string{}, Origin: kind.Origin{Tool: r.Origin.Tool},
	}}
	if d := r.Recording; d != nil {
		kept := *d
		kept.Environment, kept.Modules, kept.Why = nil, nil, nil
		out.Recording = &kept
	}
	names := map[string]string{}
	for _, t := range r.Contents {
		columns := slices.Clone(t.Columns())
		for i, c := range columns {
			columns[i] = anonymous(c, names)
		}
		made, err := table.New(t.Name, columns)
		if err != nil {
			return nil, err
		}
		out.Contents = append(out.Contents, made)
	}
	return out, nil
}

// anonymous replaces values that tell something by numbered ones, the same
// everywhere.
func anonymous(c *table.Column, names map[string]string) *table.Column {
	if telling(c) == nil {
		return c
	}
	copied := *c
	copied.Dict = make([]string, len(c.Dict))
	word := named[c.Name]
	for i, value := range c.Dict {
		if value == "" || strings.HasPrefix(value, "??") || word == "" && !isPath(value) {
			copied.Dict[i] = value
			continue
		}
		key := c.Name + "\x00" + value
		if names[key] == "" {
			what := word
			if what == "" {
				what = "path"
			}
			names[key] = fmt.Sprintf("%s%d%s", what, len(names)+1, ending(value))
		}
		copied.Dict[i] = names[key]
	}
	return &copied
}

// ending keeps the language of a source file.
func ending(value string) string {
	ext := path.Ext(value)
	if len(ext) > 5 || strings.ContainsAny(ext, " /\\") {
		return ""
	}
	return ext
}
