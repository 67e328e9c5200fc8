package unwind

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"os/exec"
	"testing"

	"github.com/isobath/isobath/internal/code/symbol"
)

// sections is a file that consists of the given parts.
type sections struct {
	machine elf.Machine
	parts   map[string]Section
	order   binary.ByteOrder
}

func (s *sections) Machine() elf.Machine        { return s.machine }
func (s *sections) ByteOrder() binary.ByteOrder { return s.order }
func (s *sections) Section(name string) ([]byte, uint64, error) {
	p := s.parts[name]
	return p.Data, p.Addr, nil
}
func (s *sections) Segment(elf.ProgType) (addr, size uint64, ok bool) { return 0, 0, false }
func (s *sections) Code(uint64, int) ([]byte, error)                  { return nil, errors.New("none") }

// FuzzTables unwinds arbitrary stacks by arbitrary tables. Whatever they say,
// it ends, within its bounds, and reads nothing but the copy.
func FuzzTables(f *testing.F) {
	if program, err := exec.LookPath("true"); err == nil {
		if b, err := symbol.Open(program); err == nil {
			eh, _, _ := b.Section(".eh_frame")
			header, _, _ := b.Section(".eh_frame_hdr")
			f.Add(eh, header, []byte{}, uint64(0x1234), make([]byte, 256), byte(0))
			f.Add(eh, []byte{}, eh, uint64(0x1010), make([]byte, 256), byte(1))
		}
	}
	cie := []byte{16, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 3, 0, 1, 0x78, 16, opDefCFA, 7, 8, opOffset | 16, 1, 0, 0}
	entry := []byte{28, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, opDefCFAExpr, 2, exprBreg0 + 7, 8, 0, 0, 0, 0}
	f.Add([]byte{}, []byte{}, append(cie, entry...), uint64(0x1010), make([]byte, 64), byte(2))
	f.Fuzz(func(t *testing.T, eh, header, debug []byte, pc uint64, stack []byte, kind byte) {
		in := &sections{machine: elf.EM_X86_64, order: binary.LittleEndian, parts: map[string]Section{
			".eh_frame": {eh, 0x2000}, ".eh_frame_hdr": {header, 0x1800}, ".debug_frame": {debug, 0}}}
		if kind&1 != 0 {
			in.machine = elf.EM_AARCH64
		}
		if kind&2 != 0 {
			in.order = binary.BigEndian
		}
		tables, err := NewTables(in)
		if err != nil {
			return
		}
		m := machineOf(in.machine)
		all := &symbol.Mapping{End: ^uint64(0), Path: "/program"}
		u := &Unwinder{machine: m, opened: map[*symbol.Mapping]*opened{all: {tables: tables}}}
		s := &Sample{Stack: stack, Order: in.order, Register: func(bit int) (uint64, bool) {
			switch bit {
			case m.pc:
				return pc, true
			case m.bits[m.sp]:
				return 0x7000, true
			}
			return uint64(0x7000 + 8*bit), kind&4 == 0
		}}
		const limit = 200
		got, stop := u.Unwind(s, func(uint64) *symbol.Mapping { return all }, limit)
		if len(got) > limit || stop == None || len(got) > 0 && got[0].PC != pc {
			t.Errorf("%d frames of at most %d, stopped by %d", len(got), limit, stop)
		}
	})
}
