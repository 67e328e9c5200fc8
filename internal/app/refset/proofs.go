package refset

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/locality/answer"
)

// keptProofs is the file of proofs in a run.
type keptProofs struct {
	Version int            `json:"version"`
	Proofs  []answer.Proof `json:"proofs"` // newest first
}

const (
	proofsVersion = 1
	// maxProofs is how many proofs a run keeps; the oldest go.
	maxProofs = 100
	// maxProgramBytes bounds the programs whose sum is taken.
	maxProgramBytes = 64 << 20
)

// KeepProof keeps a proof with the run, in place of an earlier one of the same
// change on the same machine; false if the trace is no run and has no room for it.
func (s *Set) KeepProof(p *answer.Proof, commands ...[]string) (kept bool, err error) {
	for _, c := range commands {
		if program, ok := programOf(c); ok {
			p.Programs = append(p.Programs, program)
		}
	}
	if !run.IsRun(s.path) {
		return false, nil
	}
	r, err := run.Open(s.path)
	if err != nil {
		return false, err
	}
	defer r.Close()
	p.Recorded, p.Made = stamp(r.Imported), stamp(time.Now())
	all, err := readProofs(r)
	if err != nil {
		return false, err
	}
	all = slices.DeleteFunc(all, func(k answer.Proof) bool { return k.Map == p.Map && sameMachine(&k.Machine, &p.Machine) })
	all = slices.Insert(all, 0, *p)
	body, err := json.MarshalIndent(keptProofs{proofsVersion, all[:min(len(all), maxProofs)]}, "", "  ")
	if err != nil {
		return false, err
	}
	return true, r.SaveProofs(append(body, '\n'))
}

// stamp is a moment as it is kept.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func readProofs(r *run.Run) ([]answer.Proof, error) {
	body, err := r.Proofs()
	if body == nil || err != nil {
		return nil, err
	}
	var kept keptProofs
	if err := json.Unmarshal(body, &kept); err != nil {
		return nil, fmt.Errorf("run %s: proofs: %w", r.Path, err)
	}
	if kept.Version != proofsVersion {
		return nil, fmt.Errorf("run %s: proofs of version %d, and this program knows %d; remove proofs.json, or use another isobath", r.Path, kept.Version, proofsVersion)
	}
	return kept.Proofs[:min(len(kept.Proofs), maxProofs)], nil
}

// Proven is an answer with the proofs that are kept with the run, as they are
// now: those of a listed change beside it, all others with the reason why they
// are not. Proofs that cannot be read are a note: the advice is worth more.
func (s *Set) Proven(a *answer.Advise) *answer.Advise {
	out := *a
	out.Advice = slices.Clone(a.Advice)
	if !run.IsRun(s.path) {
		return &out
	}
	r, err := run.Open(s.path)
	if err != nil {
		return &out
	}
	defer r.Close()
	proofs, err := readProofs(r)
	if err != nil {
		out.Notes = append(slices.Clone(a.Notes), err.Error())
		return &out
	}
	out.Proofs = []answer.Proof{}
	for i := range proofs {
		p := &proofs[i]
		p.Stale = changedSince(p, r)
		switch {
		case !sameMachine(&p.Machine, &a.Machine):
			p.Stale = append(p.Stale, fmt.Sprintf("its misses are of %s, and the advice is for %s", p.Machine.Name, a.Machine.Name))
		case p.References != a.References:
			p.Stale = append(p.Stale, fmt.Sprintf("it is of %d references, and the advice of %d", p.References, a.References))
		case out.AddProof(p):
			continue
		default:
			p.Stale = append(p.Stale, "its change is not in the list any more")
		}
		out.Proofs = append(out.Proofs, *p)
	}
	return &out
}

// changedSince says what is not as it was when a proof was made.
func changedSince(p *answer.Proof, r *run.Run) []string {
	why := []string{}
	if p.Recorded != stamp(r.Imported) {
		why = append(why, "the run is another recording now than the one it is of")
	}
	for _, was := range p.Programs {
		info, err := os.Stat(was.File)
		if err != nil || !info.Mode().IsRegular() {
			continue // gone is not changed
		}
		if now, ok := sumOf(was.File); info.Size() != was.Bytes || ok && now != was {
			why = append(why, fmt.Sprintf("%s is another program now", filepath.Base(was.File)))
		}
	}
	return why
}

// programOf is the program of a command as it is now; false if it is no file
// that can be told from others.
func programOf(command []string) (answer.ProofProgram, bool) {
	if len(command) == 0 {
		return answer.ProofProgram{}, false
	}
	file, err := exec.LookPath(command[0])
	if err == nil {
		file, err = filepath.Abs(file)
	}
	if err != nil {
		return answer.ProofProgram{}, false
	}
	return sumOf(file)
}

func sumOf(file string) (answer.ProofProgram, bool) {
	f, err := os.Open(file)
	if err != nil {
		return answer.ProofProgram{}, false
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxProgramBytes+1))
	if err != nil || n > maxProgramBytes {
		return answer.ProofProgram{}, false
	}
	return answer.ProofProgram{File: file, Bytes: n, Sum: fmt.Sprintf("%x", h.Sum(nil))}, true
}

// sameMachine reports whether two machines count the same.
func sameMachine(a, b *answer.Machine) bool { return reflect.DeepEqual(a, b) }
