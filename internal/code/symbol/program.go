package symbol

import (
	"path"

	"github.com/isobath/isobath/internal/data/refs"
)

// Where position-independent executables are loaded, by what loads them.
// Valgrind and qemu-user always use the same place.
const (
	ValgrindBias = 0x108000
	QemuBias     = 0x4000000000
	NoRandomBias = 0x555555554000 // Linux with address randomisation off
)

// BiasesOf returns where the program of a trace in this format may have been
// loaded.
func BiasesOf(format string) []uint64 {
	if format == "lackey" {
		return []uint64{ValgrindBias}
	}
	return []uint64{0, QemuBias, NoRandomBias}
}

// Program is a binary in a trace that holds addresses only and does not say
// where it was loaded.
type Program struct {
	*Binary
	biases []uint64
}

// OpenProgram opens an executable. The addresses of the trace are looked up
// minus each of the biases in turn; executables that cannot be moved ignore
// them.
func OpenProgram(path string, biases ...uint64) (*Program, error) {
	files := &Files{}
	b, err := files.Open(path, "")
	if err != nil {
		return nil, err
	}
	p := &Program{Binary: b, biases: biases}
	if !b.Movable() || len(biases) == 0 {
		p.biases = []uint64{0}
	}
	return p, nil
}

// Line returns the source position and function of an instruction; empty where
// the program does not know.
func (p *Program) Line(pc uint64) (file string, line int, function string) {
	for _, b := range p.biases {
		if p.image.executable(pc - b) {
			l := p.Locate(pc - b)
			// Cycles are about loops as they run: the position is the innermost,
			// the function the one that has the frame on the stack.
			file = l.Inner().File
			if file != "" {
				file = path.Base(file)
			}
			return file, l.Inner().Line, l.Outer().Function
		}
	}
	return "", 0, ""
}

// Function returns the addresses of a function as they appear in a trace with
// the first bias.
func (p *Program) Function(name string) (refs.Range, error) {
	low, high, err := p.Binary.Function(name)
	return refs.Range{Low: low + p.biases[0], High: high + p.biases[0]}, err
}

// Object implements cycle.Objects for the program's variables. Each is a kind
// of its own.
func (p *Program) Object(addr uint64) (kind uint32, base uint64, ok bool) {
	for _, b := range p.biases {
		if i, ok := p.symbols.objects.find(addr - b); ok {
			return uint32(i), p.symbols.entries[i].addr + b, true
		}
	}
	return 0, 0, false
}

// ObjectName is the name of a kind that Object has returned.
func (p *Program) ObjectName(kind uint32) string {
	if int(kind) >= len(p.symbols.entries) {
		return ""
	}
	return readable(p.symbols.entries[kind].text())
}

// Variable returns the variable at an address of the trace, and where it starts
// there.
func (p *Program) Variable(addr uint64) (g Global, start uint64, ok bool) {
	for _, b := range p.biases {
		if g, ok := p.Global(addr - b); ok && addr-b-g.Start < g.Size {
			return g, g.Start + b, true
		}
	}
	return Global{}, 0, false
}
