package synth

import (
	"context"
	"time"

	"github.com/isobath/isobath/bench/cycles/bubble"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// WriteBubble writes the bubble sort as a run: every instruction has a line, and
// touches the stack or the array that is sorted.
func WriteBubble(ctx context.Context, folder string) error {
	places := []refs.Place{{}}
	for line := range 12 {
		places = append(places, refs.Place{Function: "sort", File: "bubble.c", Line: 10 + line})
	}
	objects := []refs.Object{{}, {Name: "stack", Start: 0x7fff_ff00_0000}, {Name: "value", Start: 0x60_0000}}
	var all []refs.Ref
	for i, s := range bubble.Instructions() {
		r := refs.Ref{Addr: objects[1].Start + 8*uint64(s%9), PC: 0x1000 + 4*uint64(s), Size: 8, Thread: 1, Place: 1 + s/10, Object: 1, Op: refs.Op(s % 2)}
		if s%7 == 0 {
			r.Addr, r.Object = objects[2].Start+8*uint64(i%300), 2
		}
		all = append(all, r)
	}
	has := refs.HasPC | refs.HasSize | refs.HasThread | refs.HasPlace | refs.HasObject
	t, err := reftable.New(all, places, objects, has)
	if err != nil {
		return err
	}
	r := &run.Run{Contents: []*table.Table{t}, Manifest: run.Manifest{Version: run.Version, Kind: kind.Refs, Format: "step", Imported: time.Now().UTC().Truncate(time.Second)}}
	return r.Write(ctx, folder, true)
}
