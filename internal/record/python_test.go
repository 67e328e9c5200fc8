package record

import (
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/code/unwind"
)

// Functions of a script take the places of the runs of the loop that ran them.
func TestScriptMerge(t *testing.T) {
	const loop, call, start = 0x1000, 0x2000, 0x3000
	looped := func(pc uint64) bool { return pc >= loop && pc < loop+0x100 }
	frame := func(pc, sp uint64) unwind.Caller { return unwind.Caller{PC: pc, SP: sp} }
	native := []unwind.Caller{frame(loop+8, 100), frame(call, 200), frame(loop+16, 300), frame(start, 400)}
	tests := []struct {
		name     string
		frames   []unwind.Caller
		groups   [][]uint64
		runs     []uint64
		complete bool
		want     []uint64 // nil: they do not fit
	}{
		{"runs by place", native, [][]uint64{{1, 2}, {3}, nil}, []uint64{150, 350}, true, []uint64{1, 2, call, 3, start}},
		{"a loop without a run yet", native, [][]uint64{{3}, nil}, []uint64{350}, true, []uint64{call, 3, start}},
		{"a run whose frame is not complete", native, [][]uint64{nil, {3}, nil}, []uint64{150, 350}, true, []uint64{call, 3, start}},
		{"two runs in one frame", native, [][]uint64{{1}, {2}, {3}, nil}, []uint64{150, 160, 350}, true, nil},
		{"a run below the stack", native, [][]uint64{{1}, {3}, nil}, []uint64{90, 350}, true, nil},
		{"a run beyond the outermost frame", native, [][]uint64{{1}, {3}, {4}, nil}, []uint64{150, 350, 500}, true, nil},
		{"a copy that ends early", native[:2], [][]uint64{{1, 2}, {3}, {4}, nil}, []uint64{150, 350, 500}, false, []uint64{1, 2, call, 3, 4}},
		{"runs by the loop", native, [][]uint64{{1}, {3}, nil}, nil, true, []uint64{1, call, 3, start}},
		{"by the loop, none begun", native, [][]uint64{{3}, nil}, nil, true, []uint64{call, 3, start}},
		{"by the loop, one too many", native, [][]uint64{{1}, {2}, {3}, nil}, nil, true, nil},
		{"by the loop, two too few", native, [][]uint64{nil}, nil, true, nil},
		{"by the loop, a copy that ends early", native[:3], [][]uint64{{1}, {3}, {4}, nil}, nil, false, []uint64{1, call, 3, 4}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &script{groups: tt.groups, runs: tt.runs, looped: looped}
			got, misfit := s.merge(tt.frames, tt.complete)
			if misfit != (tt.want == nil) || !misfit && !slices.Equal(got, tt.want) {
				t.Errorf("%v, misfit %v; want %v", got, misfit, tt.want)
			}
		})
	}
}

var scriptFrames = []symbol.Frame{{Function: "f", File: "a.py", Line: 3}, {Function: "f", File: "a.py", Line: 4}}

// Functions of scripts are the same after a recorder was killed.
func TestScriptsReplayed(t *testing.T) {
	c, again := newCollector(nil), newCollector(nil)
	j, err := newJournal(t.TempDir() + "/j")
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	c.journal = j
	first := c.scriptPC(scriptFrames[0])
	second := c.scriptPC(scriptFrames[1])
	if first == second || c.scriptPC(scriptFrames[0]) != first {
		t.Fatalf("%#x, %#x", first, second)
	}
	for i := range scriptFrames {
		again.replay(&entry{Script: &scriptFrames[i]})
	}
	for i, pc := range []uint64{first, second} {
		if got := again.scriptPC(scriptFrames[i]); got != pc {
			t.Errorf("%v is at %#x, was at %#x", scriptFrames[i], got, pc)
		}
	}
}
