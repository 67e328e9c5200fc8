package memory

import (
	"testing"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// An axis of CPUs says that they are ordered by node only where there are nodes.
func TestCPUsWithoutNodes(t *testing.T) {
	cpu, node := samples.Ints(samples.CPU, table.Unknown, []int64{0, 1}, nil), samples.Ints(samples.Node, table.Unknown, []int64{0, 1}, nil)
	for want, columns := range map[string][]*table.Column{"processor": {cpu}, "by node": {cpu, node}} {
		tab, err := table.New(samples.Table, columns)
		if err != nil {
			t.Fatal(err)
		}
		s := &Samples{Data: query.Data{Table: tab}}
		got, err := s.describe(t.Context())
		if err != nil || got[0].Head != want {
			t.Errorf("%+v, %v; want %s", got, err, want)
		}
	}
}
