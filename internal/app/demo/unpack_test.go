package demo

import (
	"context"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// TestUnpack opens the unpacked run as every verb does and follows the memory
// traffic on its topology.
func TestUnpack(t *testing.T) {
	r, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	path, err := r.Write(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Open(context.Background(), path, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := set.Close(); err != nil {
			t.Error(err)
		}
	}()
	if diff := compare(built(t), set.Table); diff != "" {
		t.Error(diff)
	}
	if text, err := set.Run.Source(stencilFile); err != nil || string(text) != stencilSource {
		t.Errorf("the source comes back as %d bytes, error %v", len(text), err)
	}
	if n := set.Run.Table("objects").Rows(); n != 6 {
		t.Errorf("%d arrays, want 6", n)
	}
	answer, err := set.Engine.Answer(t.Context(), &query.Request{Places: true})
	if err != nil {
		t.Fatal(err)
	}
	agg := hw.Fold(set.Places.Coder, dataset.PlaceCounts(answer.Places, query.All))
	if err := agg.Check(); err != nil {
		t.Error(err)
	}
	want := servers(read(set.Table), always)
	if got := nodeSamples(set.Topology, agg); got != want {
		t.Errorf("the topology charges the nodes with %v accesses, the levels say %v", got, want)
	}
	if _, err := r.Write(t.Context(), path+"/no/such/folder"); err == nil {
		t.Error("unpacking into a folder that does not exist succeeds")
	}
}

func nodeSamples(t *hw.Topology, a *hw.Aggregate) (n [2]int) {
	for i := range n {
		n[i] = int(a.Tallies[t.ByNode(i).Index].Served.Samples)
	}
	return n
}
