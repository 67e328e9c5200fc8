package symbol

import (
	"bytes"
	"debug/elf"
	"os"
	"strings"
	"testing"
)

// FuzzBinary changes real programs: nothing in a file may make us panic, hang
// or take memory that the file does not have. Each input is a list of patches to
// one of the seeds, so that most inputs are still ELF files.
func FuzzBinary(f *testing.F) {
	var programs [][]byte
	for _, flags := range [][]string{{"-g", "-O2"}, {"-gdwarf-4", "-O1", "-gz"}} {
		body, err := os.ReadFile(compile(f, "heat.c", heatC, flags...))
		if err != nil {
			f.Fatal(err)
		}
		programs = append(programs, body)
	}
	f.Add(uint8(0), []byte{})
	f.Add(uint8(1), []byte{0, 0x28, 0, 0xff})
	f.Add(uint8(0), []byte{0, 0x20, 0, 0xff, 0, 0x36, 0, 1})
	f.Fuzz(func(t *testing.T, which uint8, patches []byte) {
		body := patch(programs[int(which)%len(programs)], patches)
		im, err := newImage(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			return
		}
		b := newBinary("fuzz", im, nil, &Files{})
		for _, s := range im.segments {
			for at := s.vaddr; at-s.vaddr < min(s.memory, 4096); at += 61 {
				b.Locate(at)
				if g, ok := b.Global(at); ok && g.Type != nil {
					g.Type.Element(at - g.Start)
				}
			}
			b.Disassemble(s.vaddr, s.vaddr+256, 1000)
		}
	})
}

// patch writes bytes into a copy: three of position, of which the low one is in
// units that reach the debug sections, and one of value.
func patch(body, patches []byte) []byte {
	body = bytes.Clone(body)
	for ; len(patches) >= 4; patches = patches[4:] {
		at := int(patches[0])<<16 | int(patches[1])<<8 | int(patches[2])
		body[at%len(body)] = patches[3]
	}
	return body
}

func FuzzNamings(f *testing.F) {
	f.Add("allocation at heat.c:57 is u double[1024][1024]\n# x\nobject \"a\" is b\n")
	f.Add("a:1 is real(8)(3,4)")
	f.Fuzz(func(t *testing.T, text string) {
		names, err := ReadNamings(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, n := range names {
			again, err := ParseNaming(n.String())
			if err != nil || again.String() != n.String() {
				t.Errorf("%q is read as %q, which is read as %q, %v", text, n.String(), again.String(), err)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xc5\xfd\x28\x04\x08\x20\x00\x40\xf9"))
	f.Fuzz(func(t *testing.T, code []byte) {
		for _, m := range []elf.Machine{elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64} {
			if in := decode(m, code, 4096); in.Len > len(code) {
				t.Errorf("%v: %d bytes of %d", m, in.Len, len(code))
			}
		}
	})
}
