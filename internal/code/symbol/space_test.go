package symbol

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpaceAgainstBytes compares with a model that writes every mapping into
// every byte it covers.
func TestSpaceAgainstBytes(t *testing.T) {
	const bytes, pids, steps = 64, 3, 60
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var s Space
		var state [pids][bytes]string
		type moment struct {
			at    uint64
			state [pids][bytes]string
		}
		var history []moment
		at := uint64(0)
		var add []func()
		for step := range steps {
			at += uint64(r.IntN(3))
			pid, low := r.IntN(pids), r.IntN(bytes)
			high := low + r.IntN(bytes-low) + 1
			now := at
			switch r.IntN(8) {
			case 0:
				state[pid] = [bytes]string{}
				add = append(add, func() { s.Exec(pid, now) })
			case 1:
				child := r.IntN(pids)
				if child != pid {
					state[child] = state[pid]
				}
				add = append(add, func() { s.Fork(pid, child, now) })
			default:
				name := fmt.Sprintf("/file%d", step)
				for i := low; i < high; i++ {
					state[pid][i] = name
				}
				add = append(add, func() { s.Map(pid, now, Mapping{Start: uint64(low), End: uint64(high), Path: name}) })
			}
			history = append(history, moment{at, state})
		}
		for _, f := range add {
			f()
		}
		// Of several changes at one time the last counts.
		for range 200 {
			m := history[r.IntN(len(history))]
			for i := len(history) - 1; ; i-- {
				if history[i].at == m.at {
					m = history[i]
					break
				}
			}
			pid, addr := r.IntN(pids), r.IntN(bytes)
			got := ""
			if found := s.Find(pid, m.at, uint64(addr)); found != nil {
				got = found.Path
			}
			if got != m.state[pid][addr] {
				t.Fatalf("seed %d: process %d at time %d, byte %d: got %q, want %q", seed, pid, m.at, addr, got, m.state[pid][addr])
			}
		}
	}
}

// TestJoinedMappings is the case of notes: the kernel joins neighbouring
// anonymous mappings and reports the joined extent; the new part is the object.
func TestJoinedMappings(t *testing.T) {
	var s Space
	const top = 0x7f0000400000
	s.Map(1, 0, Mapping{Start: top - 0x3000, End: top, Path: "//anon"})
	s.Map(1, 1, Mapping{Start: top - 0x124000, End: top, Path: "//anon"})
	s.Map(1, 2, Mapping{Start: top - 0x245000, End: top, Path: "//anon"})
	s.Map(1, 3, Mapping{Start: top - 0x366000, End: top, Path: "//anon"})
	var sizes []uint64
	for _, at := range []uint64{top - 0x366000, top - 0x245000, top - 0x124000, top - 0x3000} {
		m := s.Find(1, 9, at+0x10)
		sizes = append(sizes, m.End-m.Start)
	}
	if want := []uint64{0x121000, 0x121000, 0x121000, 0x3000}; !slices.Equal(sizes, want) {
		t.Errorf("sizes %#x, want %#x", sizes, want)
	}
	s.Map(1, 4, Mapping{Start: top - 0x366000, End: top, Path: "//anon"})
	if m := s.Find(1, 9, top-1); m.End-m.Start != 0x366000 {
		t.Errorf("the same range again has %#x bytes, want a new mapping", m.End-m.Start)
	}
}
