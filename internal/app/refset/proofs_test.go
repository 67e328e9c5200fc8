package refset

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/locality/answer"
)

// provenRun is a run of some references, opened.
func provenRun(t *testing.T, made time.Time) *Set {
	t.Helper()
	rows, err := reftable.New([]refs.Ref{{Addr: 0x1000, Size: 8, PC: 0x400}, {Addr: 0x2000, Size: 8, PC: 0x404}}, nil, nil, refs.HasPC)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.isobath")
	r := &run.Run{Contents: []*table.Table{rows}, Manifest: run.Manifest{Version: run.Version, Kind: kind.Refs, Format: "step", Imported: made}}
	if err := r.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestProofsAreKept: a proof stands beside the change it is of, until something is
// not as it was, which it then says; a proof of anything else is apart, with the
// reason.
func TestProofsAreKept(t *testing.T) {
	program := filepath.Join(t.TempDir(), "changed")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	machine := answer.Machine{Name: "classic", Page: 4096, Levels: []answer.MachineLevel{{Level: "L1", Size: 32 << 10}}}
	other := machine
	other.Levels = []answer.MachineLevel{{Level: "L1", Size: 48 << 10}} // of the same name
	listed := &answer.Advise{Machine: machine, References: 2, Advice: []answer.Advice{
		{Map: "object p soa\n", Instead: []answer.Instead{{Map: "object p fields x,y to p.hot; rest to p.cold\n"}}}, {Map: "object q start 0 of 64\n"}}}
	proof := func(change string, m answer.Machine, references uint64) *answer.Proof {
		return &answer.Proof{Map: change, Machine: m, References: references, Text: "as predicted", Programs: []answer.ProofProgram{}}
	}
	const soa, split = "object p soa\n", "object p fields x,y to p.hot; rest to p.cold\n"
	for _, tt := range []struct {
		name   string
		proof  *answer.Proof
		after  func(s *Set)                         // what happens before it is looked at
		beside func(a *answer.Advise) *answer.Proof // nil: it is apart
		stale  string                               // part of the reason; empty: it is not
	}{
		{"as it was", proof(soa, machine, 2), nil, func(a *answer.Advise) *answer.Proof { return a.Advice[0].Proof }, ""},
		{"of an alternative", proof(split, machine, 2), nil, func(a *answer.Advise) *answer.Proof { return a.Advice[0].Instead[0].Proof }, ""},
		{"built anew", proof(soa, machine, 2), func(*Set) { write(program, "another") }, func(a *answer.Advise) *answer.Proof { return a.Advice[0].Proof }, "changed is another program now"},
		{"built anew, as long", proof(soa, machine, 2), func(*Set) { write(program, "proveN") }, func(a *answer.Advise) *answer.Proof { return a.Advice[0].Proof }, "changed is another program now"},
		{"program gone", proof(soa, machine, 2), func(*Set) { os.Remove(program) }, func(a *answer.Advise) *answer.Proof { return a.Advice[0].Proof }, ""},
		{"another machine of the name", proof(soa, other, 2), nil, nil, "its misses are of classic"},
		{"some of the references", proof(soa, machine, 1), nil, nil, "it is of 1 references, and the advice of 2"},
		{"not advised any more", proof("object r soa\n", machine, 2), nil, nil, "not in the list any more"},
		{"another recording", proof(soa, machine, 2), func(s *Set) {
			body, err := os.ReadFile(filepath.Join(s.path, "proofs.json"))
			if err != nil {
				t.Fatal(err)
			}
			again := provenRun(t, time.Unix(2000, 0))
			write(filepath.Join(again.path, "proofs.json"), string(body))
			s.path = again.path
		}, func(a *answer.Advise) *answer.Proof { return a.Advice[0].Proof }, "another recording now"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write(program, "proven")
			s := provenRun(t, time.Unix(1000, 5))
			if kept, err := s.KeepProof(tt.proof, nil, []string{program, "7"}); err != nil || !kept {
				t.Fatalf("kept %v, %v", kept, err)
			}
			if tt.after != nil {
				tt.after(s)
			}
			got := s.Proven(listed)
			beside, apart := (*answer.Proof)(nil), got.Proofs
			if tt.beside != nil {
				beside = tt.beside(got)
			} else if len(apart) == 1 {
				beside = &apart[0]
			}
			if beside == nil || beside.Text != "as predicted" || beside.Made == "" || (tt.beside != nil) != (len(apart) == 0) {
				t.Fatalf("beside %+v, apart %+v, notes %q", beside, apart, got.Notes)
			}
			if said := strings.Join(beside.Stale, "; "); tt.stale == "" && said != "" || !strings.Contains(said, tt.stale) {
				t.Errorf("stale: %q, want %q", said, tt.stale)
			}
			if listed.Advice[0].Proof != nil || listed.Advice[0].Instead[0].Proof != nil {
				t.Error("the answer that is kept has a proof that may change")
			}
		})
	}
}

// TestProofsReplaceEarlier: the newest proof of a change counts, those of other
// machines stay, and the list does not grow without end.
func TestProofsReplaceEarlier(t *testing.T) {
	s := provenRun(t, time.Unix(1000, 0))
	keep := func(change, text, machine string) {
		t.Helper()
		if _, err := s.KeepProof(&answer.Proof{Map: change, Text: text, Machine: answer.Machine{Name: machine}}); err != nil {
			t.Fatal(err)
		}
	}
	keep("a", "first", "classic")
	keep("a", "of zen", "zen3")
	keep("a", "second", "classic")
	a := s.Proven(&answer.Advise{Machine: answer.Machine{Name: "classic"}, Advice: []answer.Advice{{Map: "a"}}})
	if a.Advice[0].Proof == nil || a.Advice[0].Proof.Text != "second" || len(a.Proofs) != 1 || a.Proofs[0].Text != "of zen" {
		t.Errorf("%+v, apart %+v", a.Advice[0].Proof, a.Proofs)
	}
	for i := range maxProofs + 5 {
		keep(strings.Repeat("b", i+1), "", "classic")
	}
	if a := s.Proven(&answer.Advise{}); len(a.Proofs) != maxProofs {
		t.Errorf("%d proofs are kept, want %d", len(a.Proofs), maxProofs)
	}
}

// TestProofsThatCannotBeRead are a note beside the advice, and are not written
// over.
func TestProofsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"{", `{"version":2,"proofs":[]}`, `[]`} {
		s := provenRun(t, time.Unix(1000, 0))
		file := filepath.Join(s.path, "proofs.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if a := s.Proven(&answer.Advise{Advice: []answer.Advice{{Map: "a"}}}); len(a.Notes) != 1 || !strings.Contains(a.Notes[0], "proofs") || len(a.Advice) != 1 {
			t.Errorf("%s: %+v", text, a)
		}
		if _, err := s.KeepProof(&answer.Proof{Map: "a"}); err == nil {
			t.Errorf("%s: was written over", text)
		}
		if now, err := os.ReadFile(file); err != nil || string(now) != text {
			t.Errorf("%s became %s, %v", text, now, err)
		}
	}
}
