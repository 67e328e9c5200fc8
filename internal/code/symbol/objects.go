package symbol

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
)

// Source says what made an object known.
type Source string

// The sources, in the order in which they are asked.
const (
	FromMark       Source = "mark"       // the program said so
	FromAllocation Source = "allocation" // the log of the allocator
	FromGlobal     Source = "global"     // a variable of a binary
	FromStack      Source = "stack"
	FromRuntime    Source = "runtime"   // the program's runtime says what it uses it for
	FromAnonymous  Source = "anonymous" // memory mapped without a file
	FromMapping    Source = "mapping"   // nothing better than the mapping's name
)

// Object is a piece of memory with a name.
type Object struct {
	Name   string
	Source Source
	Start  uint64
	Size   uint64
	Type   *Type // nil if unknown
	// Site is where an allocation was made, as file:line; empty if unknown. Place is
	// the number that whoever logged it gave to its callers.
	Site  string
	Place int

	sites []uint64
}

// Allocation is one entry of an allocation log.
type Allocation struct {
	Addr, Size uint64
	// Sites are the return addresses of the call, innermost first.
	Sites []uint64
	// Place is a number that the caller gave to them; see AllocationAt.
	Place int
}

// Objects says which object an address belongs to at a time. Add everything
// first, then find. Not safe for concurrent use.
type Objects struct {
	// Holders names allocations for the variables that hold them, by the source
	// of the line that made them, where that is certain.
	Holders bool
	// Apart numbers equal objects of each process for itself: something else tells
	// the processes apart, such as their rank, and what all of them have has one
	// name.
	Apart bool

	space *Space
	files *Files
	names []Naming

	marks, heap timeline[*Object]
	globals     map[globalKey]*Object
	recent      [4]recentGlobal
	oldest      int // of the recent ones
	mappings    map[mappingKey]*Object
	stacks      map[int]*Object
	counts      map[numberKey]int
	allocated   map[allocationKey]allocationName
	held        map[string]bool     // names of allocations, once they are named
	heldTold    map[string]bool     // names of what else is called after the variable that holds it
	sources     map[string][]string // lines of files that were looked at for names
}

// allocationKey is what allocations of one name have in common. Those of one
// stack share its slice of sites.
type allocationKey struct {
	first *uint64
	pid   int
	size  uint64
}

// allocationName is a name before it is numbered, and the site it is made of.
type allocationName struct{ name, site string }

type globalKey struct {
	binary *Binary
	start  uint64
	bias   uint64
}

type mappingKey struct {
	mapping *Mapping
}

// NewObjects returns an empty set over the mappings of a recording. Names given
// after the fact may be nil.
func NewObjects(space *Space, files *Files, names []Naming) *Objects {
	return &Objects{space: space, files: files, names: names, globals: map[globalKey]*Object{}, mappings: map[mappingKey]*Object{}, stacks: map[int]*Object{}, counts: map[numberKey]int{},
		allocated: map[allocationKey]allocationName{}, sources: map[string][]string{}}
}

// Mark adds an object that the program itself named.
func (o *Objects) Mark(pid int, at uint64, name string, start uint64, t *Type) {
	if t == nil || t.Size == 0 || start+t.Size < start {
		return
	}
	o.marks.add(event[*Object]{at: at, pid: pid, op: opPut, low: start, high: start + t.Size,
		value: &Object{Name: name, Source: FromMark, Start: start, Size: t.Size, Type: t}})
}

// Allocate adds an allocation.
func (o *Objects) Allocate(pid int, at uint64, a Allocation) {
	if a.Size == 0 || a.Addr+a.Size < a.Addr {
		return
	}
	o.heap.add(event[*Object]{at: at, pid: pid, op: opPut, low: a.Addr, high: a.Addr + a.Size,
		value: &Object{Source: FromAllocation, Start: a.Addr, Size: a.Size, sites: a.Sites, Place: a.Place}})
}

// Free ends an allocation of the process, or of one that it is a copy of.
func (o *Objects) Free(pid int, at, addr uint64) {
	o.heap.add(event[*Object]{at: at, pid: pid, op: opEnd, low: addr})
}

// Fork gives a child what its parent has.
func (o *Objects) Fork(parent, child int, at uint64) {
	if parent != child {
		o.heap.add(event[*Object]{at: at, pid: child, parent: parent, op: opFork})
		o.marks.add(event[*Object]{at: at, pid: child, parent: parent, op: opFork})
	}
}

// Exec ends everything of a process: another program takes its place.
func (o *Objects) Exec(pid int, at uint64) {
	o.marks.add(event[*Object]{at: at, pid: pid, op: opClear})
	o.FreeAll(pid, at)
}

// FreeAll ends all allocations of a process.
func (o *Objects) FreeAll(pid int, at uint64) {
	o.heap.add(event[*Object]{at: at, pid: pid, op: opClear})
}

// redZone is how far below the stack pointer a function may write (System V
// ABI of x86-64; 128 bytes).
const redZone = 128

// Find returns the object at an address; nil if nothing knows it. A stack
// pointer of 0 is unknown. It is quick while times do not fall.
func (o *Objects) Find(pid, tid int, at, addr, sp uint64) *Object {
	object, _, _ := o.find(pid, tid, at, addr, sp)
	return object
}

// find returns the object at an address; nil if the address is in no mapping
// and no other source knows it. A stack pointer of 0 is unknown. It is quick
// while times do not fall.
//
// With it come the addresses around this one whose answer is the same until
// something changes, as long as no stack pointer is known; none if that is not
// certain. Marks may lie inside everything else, allocations inside mappings.
func (o *Objects) find(pid, tid int, at, addr, sp uint64) (object *Object, low, high uint64) {
	if m, low, high, ok := o.marks.find(pid, at, addr); ok {
		return m, low, high
	}
	if a, low, high, ok := o.heap.find(pid, at, addr); ok {
		if a.Name == "" {
			o.nameAllocations()
		}
		if len(o.marks.events) > 0 {
			return a, 0, 0
		}
		return a, low, high
	}
	m, low, high := o.space.reach(pid, at, addr)
	if m == nil {
		return nil, 0, 0
	}
	if len(o.marks.events)+len(o.heap.events) > 0 {
		low, high = 0, 0
	}
	g, possible := o.global(pid, at, addr, m)
	if g != nil {
		return g, max(low, g.Start), min(high, g.Start+g.Size)
	}
	if s := o.stack(pid, tid, at, addr, sp, m); s != nil {
		return s, 0, 0
	}
	if possible {
		low, high = 0, 0
	}
	return o.mapped(pid, m), low, high
}

// AllocationAt returns the logged allocation at an address, by whatever name it
// goes there; nil if there is none. It is quick while times do not fall.
func (o *Objects) AllocationAt(pid int, at, addr uint64) *Object {
	a, _, _, _ := o.heap.find(pid, at, addr)
	return a
}

// EachAllocation calls f for every logged allocation, with the name that it has in
// common with equal ones.
func (o *Objects) EachAllocation(f func(name string, a *Object)) {
	for i := range o.heap.events {
		if e := &o.heap.events[i]; e.op == opPut {
			f(o.allocationName(e), e.value)
		}
	}
}

// Callers returns the source positions of a chain of calls by its return addresses,
// innermost first, without the allocators of languages and their containers. A call
// in code without symbols is its module and the place in it.
func (o *Objects) Callers(pid int, at uint64, sites []uint64) []Frame {
	var out []Frame
	for _, site := range sites {
		m, _, frames := o.located(pid, at, site)
		if m != nil && len(frames) == 0 {
			frames = []Frame{{Function: fmt.Sprintf("%s+%#x", path.Base(m.Path), site-1-m.Start+m.Offset)}}
		}
		out = append(out, slices.DeleteFunc(frames, forCaller)...)
	}
	return out
}

// recentGlobal is a variable that was found for an address in a mapping: loops go
// through the same few again and again.
type recentGlobal struct {
	mapping *Mapping
	object  *Object
}

// global looks for a variable, and says whether the mapping may hold one. The
// part of a program that starts as zeros is an anonymous mapping directly behind
// its file.
func (o *Objects) global(pid int, at, addr uint64, m *Mapping) (object *Object, possible bool) {
	for i := range o.recent {
		if r := &o.recent[i]; r.mapping == m && addr-r.object.Start < r.object.Size {
			return r.object, true
		}
	}
	defer func(m *Mapping) {
		if object != nil {
			o.recent[o.oldest] = recentGlobal{m, object}
			o.oldest = (o.oldest + 1) % len(o.recent)
		}
	}(m)
	if m.anonymous() && m.Start > 0 {
		before := o.space.Find(pid, at, m.Start-1)
		if before == nil || before.End != m.Start {
			return nil, false
		}
		m = before
	}
	if m.Named() {
		return nil, false
	}
	b, err := o.files.Open(m.Path, m.BuildID)
	if err != nil {
		return nil, false
	}
	bias, ok := b.biasIn(o.space, pid, at, m)
	if !ok || !b.Contains(addr-bias) {
		return nil, true
	}
	g, ok := b.Global(addr - bias)
	if !ok {
		return nil, true
	}
	key := globalKey{b, g.Start, bias}
	obj := o.globals[key]
	if obj == nil {
		obj = &Object{Name: o.variableName(g.Name), Source: FromGlobal, Start: g.Start + bias, Size: g.Size, Type: g.Type}
		o.rename(pid, obj)
		o.globals[key] = obj
	}
	return obj, true
}

// OfVariable ends the name of a pointer whose name is that of what it holds: the
// eight bytes of the variable are no part of the memory it points to.
const OfVariable = " (variable)"

// Held says that something which is no allocation of a log is called after the
// variable that points to it.
func (o *Objects) Held(name string) {
	if o.heldTold == nil {
		o.heldTold = map[string]bool{}
	}
	o.heldTold[name] = true
}

func (o *Objects) variableName(name string) string {
	if !o.Holders {
		return name
	}
	if o.held == nil {
		o.nameAllocations()
	}
	if o.held[name] || o.heldTold[name] {
		return name + OfVariable
	}
	return name
}

func (o *Objects) stack(pid, tid int, at, addr, sp uint64, m *Mapping) *Object {
	switch {
	case m.Path == "[stack]":
		tid = pid
	case strings.HasPrefix(m.Path, "[stack:"):
		if of, err := strconv.Atoi(strings.TrimSuffix(m.Path[len("[stack:"):], "]")); err == nil {
			tid = of // another thread may look into it
		}
	case sp != 0 && m.anonymous() && sp >= m.Start && sp < m.End && addr+redZone >= sp:
	default:
		return nil
	}
	s := o.stacks[tid]
	if s == nil {
		s = &Object{Name: fmt.Sprintf("stack %d", tid), Source: FromStack, Start: m.Start, Size: m.End - m.Start}
		o.stacks[tid] = s
	}
	return s
}

// mapped is the object of last resort.
func (o *Objects) mapped(pid int, m *Mapping) *Object {
	key := mappingKey{m}
	obj := o.mappings[key]
	if obj != nil {
		return obj
	}
	obj = &Object{Source: FromMapping, Start: m.Start, Size: m.End - m.Start, Name: m.Path}
	switch {
	case m.anonymous():
		obj.Source = FromAnonymous
		obj.Name = o.numbered(pid, "anonymous "+term.Bytes(obj.Size))
	case !m.Named():
		obj.Name = o.fileName(m)
	}
	o.rename(pid, obj)
	o.mappings[key] = obj
	return obj
}

// ofFile ends the name of a mapped file that is called as a variable in it, or as
// what a variable holds: a program and its data are not one object.
const ofFile = " (file)"

func (o *Objects) fileName(m *Mapping) string {
	name := path.Base(m.Path)
	if o.variableName(name) != name {
		return name + ofFile
	}
	b, err := o.files.Open(m.Path, m.BuildID)
	if err != nil {
		return name
	}
	called := func(e entry) bool { // a static variable of a function has a number behind its name
		if !e.data || !strings.Contains(e.text(), name) {
			return false
		}
		own, number, numbered := strings.Cut(readable(e.text()), ".")
		_, err := strconv.Atoi(number)
		return own == name && (!numbered || err == nil)
	}
	if slices.ContainsFunc(b.symbols.entries, called) {
		return name + ofFile
	}
	return name
}

// maxNumbered bounds how many objects of one site and size have a name of their
// own: beyond it they are one group, or a program that allocates in a loop would
// fill the list with nothing else.
const maxNumbered = 100

func (o *Objects) numbered(pid int, name string) string {
	k := o.numberKey(pid, name)
	o.counts[k]++
	return withNumber(name, o.counts[k])
}

// numberKey is what objects have in common that are numbered together.
type numberKey struct {
	pid  int // 0: of all processes
	name string
}

func (o *Objects) numberKey(pid int, name string) numberKey {
	if o.Apart {
		return numberKey{pid, name}
	}
	return numberKey{name: name}
}

func withNumber(name string, n int) string {
	switch {
	case n == 1:
		return name
	case n <= maxNumbered:
		return fmt.Sprintf("%s #%d", name, n)
	}
	return name + " #…"
}

// nameAllocations names all allocations for who holds them or where they were
// made. Equal ones that live at the same time are numbered, in the order in which
// they were made, so that two recordings of one program give them the same numbers,
// whatever was sampled; one that follows another has its name.
func (o *Objects) nameAllocations() {
	live := map[liveKey]int{} // numbers in use
	taken := map[numberKey][]bool{}
	names := map[liveKey]numberKey{}
	o.held = map[string]bool{}
	release := func(k liveKey) {
		if n, ok := live[k]; ok {
			taken[names[k]][n] = false
			delete(live, k)
			delete(names, k)
		}
	}
	for i := range o.heap.events {
		e := &o.heap.events[i]
		k := liveKey{e.pid, e.low}
		switch e.op {
		case opEnd:
			release(k)
		case opClear:
			for k := range live {
				if k.pid == e.pid {
					release(k)
				}
			}
		case opPut:
			release(k) // its end was not logged
			name := o.allocationName(e)
			o.held[name] = true
			among := o.numberKey(e.pid, name)
			n := slices.Index(taken[among], false)
			if n < 0 {
				n = len(taken[among])
				taken[among] = append(taken[among], false)
			}
			taken[among][n] = true
			live[k], names[k] = n, among
			if e.value.Name == "" {
				e.value.Name = withNumber(name, n+1)
				o.rename(e.pid, e.value)
			}
		}
	}
}

// liveKey is where an allocation of a process is.
type liveKey struct {
	pid  int
	addr uint64
}

// allocationName returns the name of an allocation before it is numbered, and sets
// its site.
func (o *Objects) allocationName(e *event[*Object]) string {
	a := e.value
	key := allocationKey{pid: e.pid, size: a.Size}
	if len(a.sites) > 0 {
		key.first = &a.sites[0]
	}
	name, ok := o.allocated[key]
	if !ok {
		name = o.allocation(e.pid, e.at, a)
		o.allocated[key] = name
	}
	a.Site = name.site
	return name.name
}

// allocation returns the name of an allocation and its site: what its line gives
// it to, or the line and the size.
func (o *Objects) allocation(pid int, at uint64, a *Object) allocationName {
	name, first := "allocation", allocationName{}
	inside := allocationName{} // of a function that hands it on: its own name for it, if its callers have none
	for _, ret := range a.sites {
		b, frames := o.callers(pid, at, ret)
		for _, f := range frames {
			if f.File == "" || f.Line == 0 {
				if name == "allocation" && f.Function != "" {
					name = f.Function
				}
				continue
			}
			site := f.Place()
			if first.site == "" {
				first = allocationName{site + " " + term.Bytes(a.Size), site}
			}
			held, passed := o.heldAt(b, &f)
			switch {
			case held != "" && !passed:
				return allocationName{held, site}
			case held != "" && inside == (allocationName{}):
				inside = allocationName{held, site}
			case !passed:
				return cmp.Or(inside, first)
			}
		}
	}
	if first.site != "" {
		return cmp.Or(inside, first)
	}
	return allocationName{name: name + " " + term.Bytes(a.Size)}
}

// callers returns the source positions of a call by its return address, inlined
// ones first. The allocators of languages are stepped over: everything is
// allocated there.
func (o *Objects) callers(pid int, at, site uint64) (*Binary, []Frame) {
	_, b, frames := o.located(pid, at, site)
	return b, slices.DeleteFunc(frames, forCaller)
}

// forCaller reports whether a function allocates for whoever calls it.
func forCaller(f Frame) bool {
	return allocator(f.Function) || strings.Contains(f.File, standardHeaders)
}

// located returns the source positions of a call by its return address, inlined
// ones first, and the mapping and the binary that it is in; nil if unknown.
func (o *Objects) located(pid int, at, site uint64) (*Mapping, *Binary, []Frame) {
	if site == 0 {
		return nil, nil, nil
	}
	m := o.space.Find(pid, at, site-1)
	if m == nil || m.Named() {
		return m, nil, nil
	}
	b, err := o.files.Open(m.Path, m.BuildID)
	if err != nil {
		return m, nil, nil
	}
	bias, ok := b.Bias(m)
	if !ok {
		return m, nil, nil
	}
	return m, b, slices.Clone(b.Locate(site - 1 - bias).Frames)
}

// standardHeaders are where GCC and Clang keep C++'s own templates, which
// allocate for their users.
const standardHeaders = "/include/c++/"

// allocator reports whether a function only passes allocations on.
func allocator(function string) bool {
	for _, p := range []string{"operator new", "std::", "__gnu_cxx::", "void* operator new", "malloc", "calloc", "realloc", "alloc::", "core::"} {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return false
}
