package record

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/symbol"
)

// A Go program has its memory from its own runtime, and no library can log what it
// allocates. The runtime knows what each of its pages is for: objects of one size,
// one large object, stacks of goroutines. It is read of the living process at each
// sampled address that is not known yet; where its structures keep that, the debug
// information of the program says.

// told is memory that the runtime of a program says something about.
type told struct {
	Number uint16 `json:"n"` // from 1; one that was there before has another name now
	Name   string `json:"name"`
	// Start and Size are those of a single object; 0 for many.
	Start uint64 `json:"start,omitempty"`
	Size  uint64 `json:"size,omitempty"`
	Type  string `json:"type,omitempty"` // of its elements, as the debug information of Path has it
	Path  string `json:"path,omitempty"`
	// Held says that the name is that of the variable which points to it.
	Held bool `json:"held,omitempty"`
}

// tell adds what is told, or replaces it. The journal knows it too.
func (c *collector) tell(t told) uint16 {
	if t.Number == 0 {
		if len(c.told) == math.MaxUint16 {
			return 0
		}
		t.Number = uint16(len(c.told) + 1)
	}
	c.note(entry{Told: &t})
	c.retell(&t)
	return t.Number
}

// retell is tell for what the journal has.
func (c *collector) retell(t *told) {
	switch at := int(t.Number) - 1; {
	case at >= 0 && at < len(c.told):
		c.told[at] = *t
	case at == len(c.told):
		c.told = append(c.told, *t)
	}
}

// toldObjects are the objects of rows that a runtime told of; nil if there are none.
func (c *collector) toldObjects() []*symbol.Object {
	if len(c.told) == 0 {
		return nil
	}
	objects := make([]*symbol.Object, len(c.told)+1)
	for i := range c.told {
		t := &c.told[i]
		o := &symbol.Object{Name: t.Name, Source: symbol.FromRuntime, Start: math.MaxUint64}
		if t.Size > 0 {
			o.Start, o.Size = t.Start, t.Size
		}
		if b, err := c.code.files.Open(t.Path, ""); err == nil && t.Type != "" {
			o.Type = b.NamedType(t.Type).Repeated(t.Size)
		}
		objects[i+1] = o
		if t.Held {
			c.objects.Held(t.Name)
		}
	}
	out := make([]*symbol.Object, len(c.rows))
	for i := range c.rows {
		out[i] = objects[c.rows[i].told]
	}
	return out
}

// goHeap is the heap of a Go program in a process.
type goHeap struct {
	*goLayout
	memory io.ReaderAt
	bias   uint64
	arenas map[uint64]uint64  // addresses of descriptions, by the number of the arena
	spans  map[uint64]*goSpan // of small objects and stacks, by page
	large  []*goSpan          // of one object each, the newest last
	order  binary.ByteOrder
}

// goSpan is a run of pages, as it was when it was last looked at.
type goSpan struct {
	start, end uint64
	what       goPages
	number     uint16 // of what is told
	looked     uint64 // time of the last look
	held       bool   // its name is that of a variable
}

// goPages is what pages are used for.
type goPages struct {
	element uint64 // bytes of an object
	class   uint8  // number of the size class and whether objects have pointers
	state   uint8
	kind    uint64 // address of the type of a large object; 0 if it is not known
}

// lookHeap is how long a look at a page counts, in ns: pages are used for
// something else only after their objects were collected.
const lookHeap = 50e6

// Bounds of what is remembered.
const (
	maxGoSpans = 1 << 16
	maxGoLarge = 1 << 8
)

// States of pages, as in mSpanState of Go's runtime/mheap.go.
const (
	goInUse  = 1 // objects
	goManual = 2 // stacks
)

// goPageBits is the size of the runtime's pages.
const goPageBits = 13

// goRuntime says what the runtime of a Go program tells about an address; 0 if
// nothing.
func (c *collector) goRuntime(pid int32, code *loaded, time, addr uint64) uint16 {
	h, known := c.goHeaps[pid]
	if !known {
		if code.image == nil || !code.image.Go {
			return 0
		}
		h = c.newGoHeap(pid, code)
		c.goHeaps[pid] = h
	}
	if h == nil {
		return 0
	}
	old := h.known(addr)
	if old != nil && time < old.looked+lookHeap {
		return old.number
	}
	s, answer := h.look(addr)
	switch {
	case answer == goGone && old != nil:
		return old.number // the program has ended, and this is the last that is known
	case answer != goFound:
		return 0
	case old != nil && old.what == s.what && old.start == s.start && old.end == s.end:
		s = old
	default:
		s.number = c.tell(h.describe(s))
		h.keep(s, addr)
	}
	s.looked = time
	if s.large() && !s.held {
		c.hold(h, s)
	}
	return s.number
}

// known is what was last seen of an address; nil if nothing was.
func (h *goHeap) known(addr uint64) *goSpan {
	if s := h.spans[addr>>goPageBits]; s != nil {
		return s
	}
	for _, s := range slices.Backward(h.large) {
		if addr >= s.start && addr < s.end {
			return s
		}
	}
	return nil
}

// keep remembers pages. A large object has many, and one entry.
func (h *goHeap) keep(s *goSpan, addr uint64) {
	if len(h.spans) >= maxGoSpans {
		clear(h.spans)
	}
	h.large = slices.DeleteFunc(h.large, func(o *goSpan) bool { return o.start < s.end && s.start < o.end })
	if !s.large() {
		h.spans[addr>>goPageBits] = s
		return
	}
	for page := s.start >> goPageBits; page < s.end>>goPageBits && len(h.spans) > 0; page++ {
		delete(h.spans, page)
	}
	if h.large = append(h.large, s); len(h.large) > maxGoLarge {
		h.large = slices.Delete(h.large, 0, 1)
	}
}

// hold gives a large object the name of the variable that points to it.
func (c *collector) hold(h *goHeap, s *goSpan) {
	if name := h.holder(s.start); name != "" && s.number > 0 {
		t := c.told[s.number-1]
		t.Name, t.Held, s.held = name, true, true
		c.tell(t)
	}
}

func (s *goSpan) large() bool { return s.what.state == goInUse && s.what.class>>1 == 0 }

// newGoHeap finds the heap of a process; nil if nothing says where it is.
func (c *collector) newGoHeap(pid int32, code *loaded) *goHeap {
	l, known := c.goLayouts[code.path]
	if !known {
		if b, err := c.code.files.Open(code.path, ""); err == nil {
			l = layoutOfGo(b)
		}
		c.goLayouts[code.path] = l
	}
	memory := c.code.copied(pid).memory
	if l == nil || memory == nil {
		return nil
	}
	return &goHeap{goLayout: l, memory: memory, bias: code.bias, arenas: map[uint64]uint64{}, spans: map[uint64]*goSpan{}, order: binary.LittleEndian}
}

// goLayout is where the runtime of a program keeps what.
type goLayout struct {
	binary  *symbol.Binary
	arenas  uint64 // address of the first level of arenas
	spans   uint64 // of the list of spans in an arena
	pages   uint64 // of an arena
	span    goSpanFields
	types   uint64 // address of the word that says where types are; 0 if unknown
	flag    uint64 // in a type: its flags
	name    uint64 // and the offset of its name
	globals [][2]uint64
}

type goSpanFields struct{ size, start, pages, element, class, state, kind uint64 }

// maxGoGlobals bounds the variables that are searched for who holds an object.
const maxGoGlobals = 16 << 20

// layoutOfGo reads where the runtime keeps what; nil without debug information.
func layoutOfGo(b *symbol.Binary) *goLayout {
	heap, ok := b.Variable("runtime.mheap_")
	if !ok {
		return nil
	}
	types := b.NamedTypes("runtime.mheap", "runtime.heapArena", "runtime.mspan", "runtime.moduledata", "internal/abi.Type")
	l := &goLayout{binary: b}
	all := true
	at := func(t, field string) uint64 {
		offset, ok := types[t].Offset(field)
		all = all && ok
		return offset
	}
	l.arenas = heap.Start + at("runtime.mheap", "arenas")
	l.spans = at("runtime.heapArena", "spans")
	l.span = goSpanFields{start: at("runtime.mspan", "startAddr"), pages: at("runtime.mspan", "npages"), element: at("runtime.mspan", "elemsize"),
		class: at("runtime.mspan", "spanclass"), state: at("runtime.mspan", "state"), kind: math.MaxUint64}
	if !all {
		return nil
	}
	l.span.size = types["runtime.mspan"].Size
	l.pages = types["runtime.heapArena"].Extent("spans")
	if l.pages == 0 || l.span.size > 4096 {
		return nil
	}
	// What follows makes names better, and may be missing: it came with Go 1.22.
	if kind := at("runtime.mspan", "largeType"); all {
		l.span.kind = kind
	}
	if module, ok := b.Variable("runtime.firstmoduledata"); ok {
		l.types = module.Start + at("runtime.moduledata", "types")
		l.flag, l.name = at("internal/abi.Type", "TFlag"), at("internal/abi.Type", "Str")
	}
	if !all {
		l.types = 0
	}
	for _, name := range []string{".data", ".bss"} {
		if addr, size, ok := b.Room(name); ok && size <= maxGoGlobals {
			l.globals = append(l.globals, [2]uint64{addr, size})
		}
	}
	return l
}

// arenaBase is the lowest address that has an arena, as arenaBaseOffset in Go's
// runtime/malloc.go.
func arenaBase() uint64 {
	if runtime.GOARCH == "amd64" {
		return 0xffff800000000000
	}
	return 0
}

// maxArenas is the length of the second level of arenas of 64-bit Linux; the first
// has one.
const maxArenas = 1 << 22

// goAnswer is what came of a look.
type goAnswer uint8

const (
	goFound  goAnswer = iota
	goNoHeap          // the address is in no page of the heap
	goGone            // the memory of the process cannot be read any more
)

// look asks the runtime about an address.
func (h *goHeap) look(addr uint64) (*goSpan, goAnswer) {
	number := (addr - arenaBase()) / (h.pages << goPageBits)
	if number >= maxArenas {
		return nil, goNoHeap
	}
	arena, known := h.arenas[number]
	if !known {
		list, ok := h.word(h.bias + h.goLayout.arenas)
		if list == 0 || !ok {
			return nil, goGone
		}
		if arena, ok = h.word(list + 8*number); arena == 0 || !ok {
			return nil, goNoHeap
		}
		h.arenas[number] = arena // it stays
	}
	at, ok := h.word(arena + h.goLayout.spans + 8*(addr>>goPageBits%h.pages))
	b := make([]byte, h.span.size)
	if ok = ok && (at == 0 || h.read(b, at)); !ok {
		return nil, goGone
	}
	word := func(offset uint64) uint64 { return h.order.Uint64(b[min(offset, h.span.size-8):]) }
	s := &goSpan{start: word(h.span.start), what: goPages{element: word(h.span.element), class: b[min(h.span.class, h.span.size-1)], state: b[min(h.span.state, h.span.size-1)]}}
	s.end = s.start + word(h.span.pages)<<goPageBits
	if s.large() && h.span.kind < h.span.size {
		s.what.kind = word(h.span.kind)
	}
	if used := s.what.state == goInUse || s.what.state == goManual; !used || addr < s.start || addr >= s.end {
		return nil, goNoHeap
	}
	return s, goFound
}

func (h *goHeap) read(b []byte, addr uint64) bool {
	if addr>>63 != 0 {
		return false
	}
	_, err := h.memory.ReadAt(b, int64(addr))
	return err == nil
}

func (h *goHeap) word(addr uint64) (uint64, bool) {
	var b [8]byte
	ok := h.read(b[:], addr)
	return h.order.Uint64(b[:]), ok
}

// describe says what pages are used for.
func (h *goHeap) describe(s *goSpan) told {
	pointers := ""
	if s.what.class&1 != 0 {
		pointers = " without pointers"
	}
	switch {
	case s.what.state == goManual:
		return told{Name: "stacks of goroutines"}
	case !s.large():
		return told{Name: fmt.Sprintf("Go heap: objects of %d bytes%s", s.what.element, pointers)}
	}
	t := told{Name: "Go heap: " + term.Bytes(s.what.element) + pointers, Start: s.start, Size: s.what.element}
	if name := h.typeName(s.what.kind); name != "" {
		t.Name, t.Type, t.Path = fmt.Sprintf("Go heap: %s of %s", term.Bytes(s.what.element), name), name, h.binary.Path
	}
	return t
}

// Flags of a type: its name begins with a star that is not its own.
const goExtraStar = 1 << 1

// typeName reads the name of a type of the program; empty if it is not known.
func (h *goHeap) typeName(at uint64) string {
	if at == 0 || h.types == 0 {
		return ""
	}
	names, _ := h.word(h.bias + h.types)
	var flag [1]byte
	var offset [4]byte
	if !h.read(flag[:], at+h.flag) || !h.read(offset[:], at+h.name) || names == 0 {
		return ""
	}
	// A byte of flags, the length in groups of seven bits, the text.
	const longest = 200
	var b [longest + 3]byte
	if !h.read(b[:], names+uint64(h.order.Uint32(offset[:]))) {
		return ""
	}
	length, n := binary.Uvarint(b[1:3])
	if n <= 0 || length > longest {
		return ""
	}
	name := string(b[1+n : 1+n+int(length)])
	if flag[0]&goExtraStar != 0 {
		name = strings.TrimPrefix(name, "*")
	}
	if !utf8.ValidString(name) {
		return ""
	}
	return name
}

// holder names the one variable of the program that points to the beginning of an
// object; empty if there is none, or more than one.
func (h *goHeap) holder(start uint64) string {
	var found []string
	for _, part := range h.globals {
		b := make([]byte, part[1])
		if !h.read(b, h.bias+part[0]) {
			continue
		}
		for at := 0; at+8 <= len(b); at += 8 {
			if h.order.Uint64(b[at:]) != start {
				continue
			}
			if name := h.variable(part[0] + uint64(at)); name != "" && !slices.Contains(found, name) {
				found = append(found, name)
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// variable names the pointer at a link-time address: main.grid.cells. What the
// runtime itself keeps points to everything.
func (h *goHeap) variable(addr uint64) string {
	g, ok := h.binary.Global(addr)
	if !ok || strings.HasPrefix(g.Name, "runtime.") || !strings.Contains(g.Name, ".") {
		return ""
	}
	name, field := g.Name, ""
	if g.Type != nil {
		field = g.Type.Element(addr - g.Start).Field
	}
	// A slice is a pointer to its array, a string to its bytes.
	for _, own := range []string{"array", "str"} {
		if field == own {
			field = ""
		}
		field = strings.TrimSuffix(field, "."+own)
	}
	if field != "" {
		name += "." + field
	}
	return name
}
