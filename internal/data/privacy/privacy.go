// Package privacy says what a run tells about people and machines, and makes
// runs that do not.
package privacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
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
	From        []string `json:"from,omitempty"`   // the names of what it was made from
	Trial       []string `json:"trial,omitempty"`  // the two command lines of the trial it is part of
	Group       string   `json:"cgroup,omitempty"` // the control group that was recorded
	Machines    []string `json:"machines"`         // names in the description of the hardware
	Environment []string `json:"environment"`      // NAME=value
	Modules     []string `json:"modules"`          // paths of programs and libraries
	Sources     []string `json:"sources"`          // files whose text the run holds
	Columns     []Column `json:"columns"`
}

// Column is a column whose values may name files, hosts or people.
type Column struct {
	Table  string   `json:"table"`
	Name   string   `json:"name"`
	Values int      `json:"values"`
	Shown  []string `json:"shown"` // a few of them
}

// named are the columns that hold such values, and what these are.
var named = map[string]string{
	samples.File: file, samples.Host: host, "hostname": host, "nodename": host, "module": module, "dso": module, "object": "",
	"command": command, "cmdline": command, "comm": command, "user": user, "username": user,
}

const (
	file, host, module, command, user = "file", "host", "module", "command", "user"
	somewhere                         = "path" // what only looks like one
)

// Of looks at a run.
func Of(r *run.Run) Report {
	p := Report{Host: r.Origin.Host, Command: r.Origin.Command, From: r.From, Machines: []string{}, Environment: []string{}, Modules: []string{}, Sources: []string{}, Columns: []Column{}}
	if d := r.Recording; d != nil {
		p.Group = d.Group
		if d.Trial != nil {
			for _, c := range d.Trial.Commands {
				p.Trial = append(p.Trial, strings.Join(c, " "))
			}
		}
		for name, value := range d.Environment {
			p.Environment = append(p.Environment, name+"="+value)
		}
		slices.Sort(p.Environment)
		for _, m := range d.Modules {
			p.Modules = append(p.Modules, m.Path)
		}
	}
	// A description that cannot be read is not shown either.
	_, _ = renamedMachines(r.Tree, func(name string) string {
		if !slices.Contains(p.Machines, name) {
			p.Machines = append(p.Machines, name)
		}
		return name
	})
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
	if _, known := named[c.Name]; !known && !slices.ContainsFunc(c.Dict, hasPath) {
		return nil
	}
	return c.Dict[:min(3, len(c.Dict))]
}

func isPath(value string) bool {
	return filepath.IsAbs(value) || strings.HasPrefix(value, "~/") || strings.HasPrefix(value, `\\`)
}

// pathIn finds the absolute paths inside a text, such as those of a stack or of
// the name of a function that was made up of its file.
var pathIn = regexp.MustCompile(`(^|[\s;:,=@"'(<\[])((?:/|~/|\\\\)[^\s;:,=@"')>\]/\\]+[/\\][^\s;:,=@"')>\]]+)`)

func hasPath(value string) bool { return isPath(value) || pathIn.MatchString(value) }

// Anonymised is a run without paths, hosts, users, command lines, environment and
// source files. Columns keep what analyses need: which rows share a file, and how
// it ends. Names of functions and objects of the program stay.
func Anonymised(r *run.Run) (*run.Run, error) {
	given := aliases{}
	tree, err := renamedMachines(r.Tree, func(name string) string { return given.of(host, name) })
	if err != nil {
		return nil, fmt.Errorf("the description of the hardware: %w", err)
	}
	out := &run.Run{Tree: tree, Manifest: run.Manifest{
		Version: run.Version, Kind: r.Kind, Format: r.Format, Imported: r.Imported, Warnings: []string{}, Origin: kind.Origin{Tool: r.Origin.Tool},
	}}
	if d := r.Recording; d != nil {
		out.Recording = given.recording(*d)
	}
	for _, t := range r.Contents {
		columns := slices.Clone(t.Columns())
		for i, c := range columns {
			columns[i] = given.column(c)
		}
		made, err := table.New(t.Name, columns)
		if err != nil {
			return nil, err
		}
		out.Contents = append(out.Contents, made)
	}
	return out, nil
}

// renamedMachines is a stored description of the hardware (hw.Topology) with other
// names of its machines. These are the names of hosts wherever a description
// comes from the machine itself.
func renamedMachines(tree json.RawMessage, rename func(string) string) (json.RawMessage, error) {
	if tree == nil {
		return nil, nil
	}
	var whole map[string]any
	d := json.NewDecoder(bytes.NewReader(tree))
	d.UseNumber()
	if err := d.Decode(&whole); err != nil {
		return nil, err
	}
	all := []any{whole}
	for _, of := range []string{"hosts", "machines"} {
		list, _ := whole[of].([]any)
		all = append(all, list...)
	}
	for _, one := range all {
		m, _ := one.(map[string]any)
		if name, ok := m["name"].(string); ok && name != "" {
			m["name"] = rename(name)
		}
		delete(m, "warnings") // which quote files and names
	}
	return json.Marshal(whole)
}

// aliases are what values are called that tell something: numbered, and the same
// everywhere.
type aliases map[string]string

func (a aliases) of(what, value string) string {
	key := what + "\x00" + value
	if a[key] == "" {
		alias := fmt.Sprintf("%s%d", what, len(a)+1)
		if what == file || what == module || what == somewhere {
			alias += ending(value)
		}
		a[key] = alias
	}
	return a[key]
}

// text is a text without the paths in it.
func (a aliases) text(value string) string {
	if isPath(value) {
		return a.of(somewhere, value)
	}
	return pathIn.ReplaceAllStringFunc(value, func(found string) string {
		parts := pathIn.FindStringSubmatch(found)
		return parts[1] + a.of(somewhere, parts[2])
	})
}

// recording leaves out who and where.
func (a aliases) recording(d run.Recording) *run.Recording {
	d.Environment, d.Modules, d.Why, d.Group = nil, nil, nil, ""
	if d.Trial != nil {
		trial := *d.Trial
		trial.Commands = [][]string{}
		d.Trial = &trial
	}
	if d.Model != nil {
		model := *d.Model
		model.Topology = a.of(host, model.Topology)
		d.Model = &model
	}
	if d.Heap != nil {
		heap := *d.Heap
		heap.Absent = a.text(heap.Absent)
		d.Heap = &heap
	}
	return &d
}

// column replaces the values of a column that tell something.
func (a aliases) column(c *table.Column) *table.Column {
	if telling(c) == nil {
		return c
	}
	copied := *c
	copied.Dict = make([]string, len(c.Dict))
	what := named[c.Name]
	for i, value := range c.Dict {
		switch {
		case value == "" || strings.HasPrefix(value, "??"):
			copied.Dict[i] = value
		case what == "":
			copied.Dict[i] = a.text(value)
		default:
			copied.Dict[i] = a.of(what, value)
		}
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
