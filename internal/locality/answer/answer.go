// Package answer puts what the locality analyses find into the shapes that the
// commands print and the page asks for.
package answer

import (
	"fmt"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"

	"github.com/isobath/isobath/internal/data/refs"
)

// The provenances of the answers.
const (
	Measured = "measured"
	Derived  = "derived"
	Modelled = "modelled"
)

// Machine is M of the answers: what a modelled number belongs to.
type Machine struct {
	Name    string         `json:"name"`
	Levels  []MachineLevel `json:"levels"`
	TLB     []MachineTLB   `json:"tlb"`
	Page    int            `json:"page_bytes"`
	Walk    int            `json:"walk_cycles"`
	Remote  int            `json:"remote_cycles"` // of a line from another memory node, beyond one from the own
	Queue   int            `json:"queue_cycles"`  // of a line beyond the even share of the node that serves it
	Nodes   int            `json:"nodes"`
	Assumed []string       `json:"assumed"`
	// Model says what every number of the machine rests on.
	Model string `json:"model"`
}

// MachineLevel is one level of a machine.
type MachineLevel struct {
	Level   string   `json:"level"`
	Size    int      `json:"size"`
	Ways    int      `json:"ways"`
	Line    int      `json:"line_bytes"`
	Policy  string   `json:"policy"`
	Shared  bool     `json:"shared"`
	Step    int      `json:"step_cycles"`
	Assumed []string `json:"assumed"`
}

// MachineTLB is one level of translation.
type MachineTLB struct {
	Entries int `json:"entries"`
	Ways    int `json:"ways"`
}

// ModelText is what every modelled number rests on.
const ModelText = "LRU; no prefetch and ideal prefetch as a band; virtual sets, with random frames as a band; caches empty at the start"

// MachineOf describes a machine.
func MachineOf(m *platform.Machine) Machine {
	out := Machine{Name: m.Name, Page: m.Page, Walk: m.Walk, Remote: m.Remote, Queue: m.Queue, Nodes: m.Nodes, Assumed: append([]string{}, m.Assumed...), Model: ModelText,
		TLB: []MachineTLB{{m.DTLB.Entries, m.DTLB.Ways}, {m.STLB.Entries, m.STLB.Ways}}}
	for i, l := range m.Levels {
		out.Levels = append(out.Levels, MachineLevel{l.Name, l.Size, l.Ways, l.Line, string(l.Policy), !m.Private(i), l.Step, append([]string{}, l.Assumed...)})
	}
	return out
}

// Key says what a group is: the fields that apply are set.
type Key struct {
	File     string  `json:"file,omitempty"`
	Line     int     `json:"line,omitempty"`
	Function string  `json:"function,omitempty"`
	Object   *string `json:"object,omitempty"`
	Field    string  `json:"field,omitempty"`
	PC       string  `json:"pc,omitempty"`
	Thread   *uint32 `json:"thread,omitempty"`
	Class    string  `json:"class,omitempty"`
	Loop     string  `json:"loop,omitempty"`
}

// String names the group.
func (k Key) String() string {
	switch {
	case k.Object != nil && k.Field != "":
		return objectText(*k.Object) + "." + k.Field
	case k.Object != nil:
		return objectText(*k.Object)
	case k.PC != "":
		if k.Line > 0 {
			return fmt.Sprintf("%s %s:%d", k.PC, k.File, k.Line)
		}
		return k.PC
	case k.Line > 0:
		return fmt.Sprintf("%s:%d", k.File, k.Line)
	case k.Loop != "":
		return k.Loop
	case k.Function != "":
		return k.Function
	case k.Thread != nil:
		return fmt.Sprintf("thread %d", *k.Thread)
	case k.Class != "":
		return k.Class
	}
	return "(unknown)"
}

func objectText(name string) string {
	if name == "" {
		return "(no object)"
	}
	return name
}

// By is what groups are made of.
type By string

// The kinds of groups.
const (
	ByLine     By = "line"
	ByFunction By = "function"
	ByObject   By = "object"
	ByField    By = "field"
	ByPC       By = "pc"
	ByThread   By = "thread"
	ByClass    By = "class"
	ByLoop     By = "loop"
)

// ParseBy reads a kind of group, and says what to record where the trace lacks
// it.
func ParseBy(s string, about *refs.About, objects int) (By, error) {
	by := By(s)
	switch by {
	case ByLine, ByFunction:
		if about.Has&refs.HasPlace == 0 {
			return by, fmt.Errorf("--by %s: the trace has no source lines; give --binary EXE built with -g", s)
		}
	case ByPC, ByClass, ByLoop:
		if about.Has&refs.HasPC == 0 {
			return by, fmt.Errorf("--by %s: the trace has no instruction addresses; record one with 'isobath record --refs'", s)
		}
	case ByObject, ByField:
		if objects == 0 {
			return by, fmt.Errorf("--by %s: no objects are known; record with --allocations, or give --binary EXE or --objects FILE", s)
		}
	case ByThread:
	default:
		return by, fmt.Errorf("--by %q: want line, function, object, field, loop, pc, thread or class", s)
	}
	return by, nil
}

// placeKey names a place.
func placeKey(by By, places []refs.Place, place uint32) Key {
	p := refs.Place{}
	if int(place) < len(places) {
		p = places[place]
	}
	if by == ByFunction {
		return Key{Function: p.Function}
	}
	return Key{File: p.File, Line: p.Line, Function: p.Function}
}

// memberKey names a member of an object.
func memberKey(by By, t *layout.Table, m layout.Member) Key {
	name := ""
	if m.Object != 0 {
		name = t.Objects[m.Object].Name
	}
	k := Key{Object: &name}
	if by == ByField {
		k.Field = t.FieldName(m)
	}
	return k
}

// ObjectInfo is what is known of an object.
type ObjectInfo struct {
	Name     string        `json:"name"`
	Start    string        `json:"start"`
	Bytes    uint64        `json:"bytes"`
	Element  uint64        `json:"element"`
	Elements uint64        `json:"elements"`
	Blocks   int           `json:"blocks"`
	Type     string        `json:"type"`
	Evidence string        `json:"evidence"`
	Fields   []ObjectField `json:"fields"`
}

// ObjectField is a field of an object.
type ObjectField struct {
	Name   string `json:"name"`
	Offset uint64 `json:"offset"`
	Bytes  uint64 `json:"bytes"`
	Type   string `json:"type"`
}

// objectsOf lists the objects of a table.
func objectsOf(t *layout.Table) []ObjectInfo {
	out := []ObjectInfo{}
	for _, o := range t.Objects[1:] {
		info := ObjectInfo{Name: o.Name, Start: fmt.Sprintf("%#x", o.Start), Bytes: o.Size, Element: o.Elem, Elements: o.Elements(), Blocks: len(o.Blocks),
			Type: o.Type, Evidence: string(o.Known), Fields: []ObjectField{}}
		for _, f := range o.Fields {
			info.Fields = append(info.Fields, ObjectField{f.Name, f.Offset, f.Size, f.Type})
		}
		out = append(out, info)
	}
	return out
}
