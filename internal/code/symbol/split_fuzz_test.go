package symbol

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"
)

// FuzzSplit reads damaged split debug information, indexes of packages and type
// units: damage costs names, never more.
func FuzzSplit(f *testing.F) {
	var programs []splitParts
	for _, flags := range [][]string{{"-O2", "-gdwarf-5", "-gsplit-dwarf", "-fdebug-types-section"}, {"-O2", "-gdwarf-4", "-gsplit-dwarf"}} {
		program := compile(f, "heat.c", heatC, flags...)
		files, err := filepath.Glob(filepath.Join(filepath.Dir(program), "*.dwo"))
		if err != nil || len(files) != 1 {
			f.Fatalf("%v: %v", files, err)
		}
		parts, err := readSplit(files[0])
		if err != nil {
			f.Fatal(err)
		}
		programs = append(programs, parts)
	}
	f.Add(uint8(0), []byte{}, []byte{})
	f.Add(uint8(1), []byte{0, 0, 9, 0xff}, make([]byte, 64))
	f.Add(uint8(0), []byte{1, 0, 3, 0x21}, []byte{5, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0})
	f.Fuzz(func(t *testing.T, which uint8, patches, raw []byte) {
		parts := splitParts{}
		for name, body := range programs[int(which)%len(programs)] {
			parts[name] = bytes.Clone(body)
		}
		for ; len(patches) >= 4; patches = patches[4:] {
			if body := parts[splitNames[int(patches[0])%len(splitNames)]]; len(body) > 0 {
				body[(int(patches[1])<<8|int(patches[2]))%len(body)] = patches[3]
			}
		}
		s := &splits{addr: make([]byte, 256), ranges: make([]byte, 256), missing: map[string]string{}}
		if d, h, err := s.assemble(parts, skeleton{base: 0x1000}, binary.LittleEndian); err == nil {
			u := &unit{}
			u.readGuarded(d, h)
			b := &Binary{types: map[place]*Type{}}
			for _, v := range u.variables {
				b.typeAt(v.kind)
				v.entry.name()
			}
			for _, x := range u.scopes {
				x.entry.name()
			}
		}
		parseIndex(raw, binary.LittleEndian)
		scanTypeUnits(bytes.Clone(raw), binary.LittleEndian)
	})
}

// readGuarded reads the entries as unit.read does.
func (u *unit) readGuarded(d *debugInfo, h *header) (err error) {
	defer guard(&err, "debug entries")
	r := d.data.Reader()
	r.Seek(h.first)
	if root, err := r.Next(); err != nil || root == nil {
		return err
	}
	return u.readEntries(d, r, h.first, h.end)
}
