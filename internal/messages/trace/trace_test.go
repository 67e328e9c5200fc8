package trace

import (
	"context"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// open reads a shared trace.
func openShared(t testing.TB, name string) *Trace {
	t.Helper()
	tr, err := Open(context.Background(), test.Shared(t, "otf2/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func kinds(tr *Trace) (n [3]int) {
	for _, k := range tr.Ops.Kind {
		n[k]++
	}
	return n
}

// TestSharedTraces compares counts with those published for the traces.
func TestSharedTraces(t *testing.T) {
	tests := []struct {
		name                          string
		procs, messages, sends, recvs int
		collectives, sendOps, recvOps int
		collectiveOps, unmatchedSends int
		resolution                    uint64
		span                          int64
	}{
		{"amg8", 8, 16272, 16272, 16272, 116, -1, 3393, 912, 0, 1e9, 1964696151655 - 1956688138790},
		{"binomial16", 16, 30, 30, 30, 2, 30, 30, 32, 0, 1e9, 928447651958 - 928432542473},
		{"commtag8", 8, 16, 16, 16, 2, 16, 16, 8, 0, 1e9, 1882288841650 - 1882024701438},
		{"dissem16", 16, 64, 64, 64, 2, 64, 64, 32, 0, 1e9, -1},
		{"halo16", 16, 480, 480, 480, 10, 480, 160, 160, 0, 1e9, -1},
		{"halo64_big", 64, 67200, 67200, 67200, 300, 67200, 19200, 19200, 0, 1e9, -1},
		{"lu8", 8, 11298, 11298, 11298, 22, 11298, 11298, 176, 0, 1e9, -1},
		{"lulesh8", 8, 2216, 2216, 2216, 21, 2216, 2216, 168, 0, 1e9, -1},
		{"mergetree64", 64, 182, 182, 182, 2, 182, 182, 128, 0, 1e9, -1},
		{"mg16", 16, 6704, 6704, 6704, 102, 6704, 6704, 1632, 0, 1e9, -1},
		{"ring16", 16, 240, 240, 240, 2, 240, 240, 32, 0, 1e9, -1},
		{"thirdparty/pipit-ping-pong-otf2", 2, 16, 16, 16, 0, 16, 16, 0, 0, 2095197216, -1},
		{"thirdparty/sst-elements-emberotf2", 4, 0, 0, 0, 3, 0, 0, 12, 0, 2000000653, -1},
		{"eztrace/halo16/halo_trace", 16, 0, 480, 0, 10, 480, 0, 160, 480, 1e9, 1115105207 - 25898},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr := openShared(t, tt.name)
			k := kinds(tr)
			us, ur := tr.Unmatched()
			got := []int{len(tr.Procs), tr.Messages(), len(tr.Sends.Op), len(tr.Recvs.Op), len(tr.Colls.Comm), k[Recv], k[Collective], us, ur}
			want := []int{tt.procs, tt.messages, tt.sends, tt.recvs, tt.collectives, tt.recvOps, tt.collectiveOps, tt.unmatchedSends, 0}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("count %d: got %d, want %d (procs, messages, sends, recvs, collectives, recv ops, collective ops, unmatched sends, unmatched recvs)", i, got[i], want[i])
				}
			}
			if tt.sendOps >= 0 && k[Send] != tt.sendOps {
				t.Errorf("%d send operations, want %d", k[Send], tt.sendOps)
			}
			if tr.Resolution != tt.resolution {
				t.Errorf("resolution %d, want %d", tr.Resolution, tt.resolution)
			}
			if tt.span >= 0 && tr.Last-tr.First != tt.span {
				t.Errorf("span %d, want %d", tr.Last-tr.First, tt.span)
			}
			if r, ok := regionsAndComms[tt.name]; ok {
				if sum := tr.Summary(); sum.Regions != r[0] || sum.Comms != r[1] {
					t.Errorf("%d regions, %d communicators; want %v", sum.Regions, sum.Comms, r)
				}
			}
			t.Log(tr.Warnings)
		})
	}
}

// TestCommunicatorSeparatesMessages: commtag8 sends the same tag and size on
// two communicators and receives them in the opposite order.
func TestCommunicatorSeparatesMessages(t *testing.T) {
	tr := openShared(t, "commtag8")
	for p := 0; p < 8; p += 2 {
		var recvs []int32 // the two receives of p+1, in order
		for op := tr.Ops.Start[p+1]; op < tr.Ops.Start[p+2]; op++ {
			if tr.Ops.Kind[op] == Recv && tr.Regions[tr.Ops.Region[op]].Name == "MPI_Recv" {
				recvs = append(recvs, op)
			}
		}
		var sends []int32
		for op := tr.Ops.Start[p]; op < tr.Ops.Start[p+1]; op++ {
			if tr.Regions[tr.Ops.Region[op]].Name == "MPI_Isend" {
				sends = append(sends, op)
			}
		}
		if len(sends) != 2 || len(recvs) < 2 {
			t.Fatalf("rank %d: %d Isends, %d receives of its neighbour", p, len(sends), len(recvs))
		}
		for i, s := range sends {
			got := tr.Recvs.Op[tr.Sends.Match[tr.Ops.Ref[s]]]
			if want := recvs[1-i]; got != want {
				t.Errorf("rank %d: Isend %d goes to operation %d, want %d", p, i, got, want)
			}
		}
	}
}

// regionsAndComms are the numbers of their definitions.
var regionsAndComms = map[string][2]int{
	"amg8": {16, 2}, "commtag8": {8, 5}, "mg16": {9, 2}, "lulesh8": {13, 1}, "thirdparty/pipit-ping-pong-otf2": {235, 3},
	"thirdparty/sst-elements-emberotf2": {234, 3}, "eztrace/halo16/halo_trace": {96, 34},
}
