package refset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGroupedByWhatThereIs: who names no groups gets those that the trace can
// have, and hears why they are not lines; who names some is told what is missing.
func TestGroupedByWhatThereIs(t *testing.T) {
	for _, c := range []struct{ name, text, by, note string }{
		{"lackey", "==1== Lackey, an example Valgrind tool\nI  0401000,3\n L 1000,8\nI  0401003,3\n S 2000,8\n L 1000,8\n", "pc", "grouped by instruction: the trace has no source lines"},
		{"refs.csv", "op,addr,pc,file,line\nL,0x1000,0x400000,a.c,3\nL,0x1000,0x400000,a.c,3\n", "line", ""},
		{"addresses.csv", "op,addr\nL,0x1000\nS,0x1000\n", "thread", "grouped by thread: the trace has neither"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), c.name)
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			open := func() *Set {
				s, err := Open(t.Context(), path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				return s
			}
			found, _, err := open().Reuse(t.Context(), ReuseAsk{Machine: "classic"})
			if err != nil {
				t.Fatal(err)
			}
			modelled, err := open().WhatIf(t.Context(), WhatIfAsk{Base: "classic"})
			if err != nil {
				t.Fatal(err)
			}
			if string(found.By) != c.by || string(modelled.By) != c.by {
				t.Errorf("reuse by %q, whatif by %q, want %q", found.By, modelled.By, c.by)
			}
			for verb, notes := range map[string][]string{"reuse": found.Notes, "whatif": modelled.Notes} {
				if said := strings.Join(notes, "\n"); c.note == "" && strings.Contains(said, "grouped by") || !strings.Contains(said, c.note) {
					t.Errorf("%s notes %q, want %q", verb, said, c.note)
				}
			}
			if c.by == "line" {
				return
			}
			if _, _, err := open().Reuse(t.Context(), ReuseAsk{Machine: "classic", By: "line"}); err == nil || !strings.Contains(err.Error(), "no source lines") {
				t.Errorf("--by line: %v", err)
			}
		})
	}
}
