package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/tracks"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// twoThreads has samples of two threads, not in the order of their times.
func twoThreads(t *testing.T) *table.Table {
	t.Helper()
	tab, err := table.New(samples.Table, []*table.Column{
		samples.Ints(samples.Time, table.Measured, []int64{5_000_000, 1_000_000, 3_000_000, 2_000_000}, nil),
		samples.Ints(samples.PID, table.Measured, []int64{40, 40, 40, 40}, nil),
		samples.Ints(samples.TID, table.Measured, []int64{41, 40, 40, 41}, nil),
		samples.Ints(samples.Latency, table.Measured, []int64{10, 20, 30, 40}, nil),
		table.Categories("stack", table.Measured, []uint32{0, 1, 1, 0}, []string{"main (a.c:1);work (a.c:7)", "main (a.c:2)"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestFirefox holds the shape of the documented format: tables with a schema,
// whose rows refer to each other, times in order, and an end without a stack.
func TestFirefox(t *testing.T) {
	var b bytes.Buffer
	if err := WriteFirefox(t.Context(), &b, twoThreads(t), nil, "run"); err != nil {
		t.Fatal(err)
	}
	var file struct {
		SystemHost struct{ Name string }
		Profile    struct {
			Meta    map[string]any
			Threads []struct {
				Name                            string
				PID, TID                        int64
				Samples, FrameTable, StackTable struct {
					Schema map[string]int
					Data   [][]any
				}
				StringTable []string
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	if file.SystemHost.Name != "Firefox" || file.Profile.Meta["version"] == nil || len(file.Profile.Threads) != 2 {
		t.Fatalf("%s", b.String())
	}
	var got []string
	for _, thread := range file.Profile.Threads {
		at := -1.0
		for _, s := range thread.Samples.Data {
			time := s[thread.Samples.Schema["time"]].(float64)
			if time < at {
				t.Errorf("times fall")
			}
			at = time
			text := fmt.Sprintf("%s %d %g:", thread.Name, thread.TID, time)
			var frames []string
			for id := s[thread.Samples.Schema["stack"]]; id != nil; {
				row := thread.StackTable.Data[int(id.(float64))]
				frame := thread.FrameTable.Data[int(row[thread.StackTable.Schema["frame"]].(float64))]
				frames = append(frames, thread.StringTable[int(frame[thread.FrameTable.Schema["location"]].(float64))])
				id = row[thread.StackTable.Schema["prefix"]]
			}
			slices.Reverse(frames)
			got = append(got, text+fmt.Sprint(frames))
		}
	}
	want := []string{"GeckoMain 40 0:[main (a.c:2)]", "GeckoMain 40 2:[main (a.c:2)]", "GeckoMain 40 5.333333333333333:[]", "tid 41 41 1:[main (a.c:1) work (a.c:7)]", "tid 41 41 4:[main (a.c:1) work (a.c:7)]", "tid 41 41 5.333333333333333:[]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTimeline(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTimeline(t.Context(), tracks.NewChrome(&b), twoThreads(t), nil); err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []struct {
			Ph  string
			Tid int
		}
		Samples []struct{ Ts string }
	}
	if err := json.Unmarshal(b.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	counters := 0
	for _, e := range file.TraceEvents {
		if e.Ph == "C" {
			counters++
		}
	}
	if len(file.Samples) != 4 || file.Samples[0].Ts != "0" || file.Samples[3].Ts != "4000" || counters != 4 {
		t.Errorf("%d counters, samples %v", counters, file.Samples)
	}
	none, err := table.New(samples.Table, []*table.Column{table.Categories("function", table.Measured, []uint32{0}, []string{"f"}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteTimeline(t.Context(), tracks.NewChrome(&b), none, nil); !errors.Is(err, errNoTime) {
		t.Errorf("samples without times: %v", err)
	}
}
