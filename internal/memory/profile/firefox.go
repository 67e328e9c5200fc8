package profile

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/base/tracks"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/table"
)

// What follows is the profile of Firefox's profiler, wrapped as its developer
// tools save it, which profiler.firefox.com and speedscope read
// (docs-developer/gecko-profile-format.md there). Names of functions, files and
// lines are inside: nothing has to be symbolicated.
type firefoxFile struct {
	Version    int            `json:"version"`
	SystemHost map[string]any `json:"systemHost"`
	Label      string         `json:"label"`
	Duration   float64        `json:"duration"`
	Profile    firefoxProfile `json:"profile"`
}

type firefoxProfile struct {
	Meta         map[string]any   `json:"meta"`
	Libs         []any            `json:"libs"`
	Pages        []any            `json:"pages"`
	PausedRanges []any            `json:"pausedRanges"`
	Threads      []*firefoxThread `json:"threads"`
	Processes    []any            `json:"processes"`
}

type firefoxThread struct {
	Name           string       `json:"name"`
	ProcessType    string       `json:"processType"`
	ProcessName    string       `json:"processName"`
	TID            int64        `json:"tid"`
	PID            int64        `json:"pid"`
	RegisterTime   float64      `json:"registerTime"`
	UnregisterTime *float64     `json:"unregisterTime"`
	Markers        firefoxTable `json:"markers"`
	Samples        firefoxTable `json:"samples"`
	FrameTable     firefoxTable `json:"frameTable"`
	StackTable     firefoxTable `json:"stackTable"`
	StringTable    []string     `json:"stringTable"`

	strings map[string]int
	frames  map[symbol.Frame]int
	stacks  map[[2]int]int
}

// firefoxTable has rows, and says which column is which.
type firefoxTable struct {
	Schema map[string]int `json:"schema"`
	Data   [][]any        `json:"data"`
}

func newFirefoxTable(columns ...string) firefoxTable {
	t := firefoxTable{map[string]int{}, [][]any{}}
	for i, c := range columns {
		t.Schema[c] = i
	}
	return t
}

func newFirefoxThread() *firefoxThread {
	return &firefoxThread{ProcessType: "default",
		Markers:     newFirefoxTable("name", "startTime", "endTime", "phase", "category", "data"),
		Samples:     newFirefoxTable("stack", "time", "eventDelay"),
		FrameTable:  newFirefoxTable("location", "relevantForJS", "innerWindowID", "implementation", "line", "column", "category", "subcategory"),
		StackTable:  newFirefoxTable("prefix", "frame"),
		StringTable: []string{}, strings: map[string]int{}, frames: map[symbol.Frame]int{}, stacks: map[[2]int]int{}}
}

func (t *firefoxThread) text(s string) int {
	id, ok := t.strings[s]
	if !ok {
		id = len(t.StringTable)
		t.strings[s] = id
		t.StringTable = append(t.StringTable, s)
	}
	return id
}

// location is a place as readers take it apart: a name, and in brackets its file
// and line.
func location(f symbol.Frame) string {
	switch {
	case f.File == "":
		return f.Function + " (unknown)"
	case f.Line <= 0:
		return fmt.Sprintf("%s (%s)", f.Function, f.File)
	}
	return fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line)
}

func (t *firefoxThread) frame(f symbol.Frame) int {
	id, ok := t.frames[f]
	if !ok {
		id = len(t.FrameTable.Data)
		t.frames[f] = id
		var line any
		if f.Line > 0 {
			line = f.Line
		}
		t.FrameTable.Data = append(t.FrameTable.Data, []any{t.text(location(f)), false, 0, nil, line, nil, 0, 0})
	}
	return id
}

// stack returns the row of a stack; its prefix is the row of its callers.
func (t *firefoxThread) stack(frames []symbol.Frame) any {
	at := -1
	for _, f := range frames {
		key := [2]int{at, t.frame(f)}
		id, ok := t.stacks[key]
		if !ok {
			id = len(t.StackTable.Data)
			t.stacks[key] = id
			var prefix any
			if at >= 0 {
				prefix = at
			}
			t.StackTable.Data = append(t.StackTable.Data, []any{prefix, key[1]})
		}
		at = id
	}
	if at < 0 {
		return nil
	}
	return at
}

// geckoVersion is the version of the format that is written: the readers bring
// older ones up to date.
const geckoVersion = 27

// firefoxMain is what the profiler calls the thread that stands for a process.
const firefoxMain = "GeckoMain"

// WriteFirefox writes samples (nil rows: all) for the profiler of Firefox.
func WriteFirefox(ctx context.Context, w io.Writer, t *table.Table, rows table.Bits, title string) error {
	m, err := newMoments(ctx, t, rows)
	if err != nil {
		return err
	}
	file := firefoxFile{Version: 2, SystemHost: map[string]any{"name": "Firefox"}, Label: title}
	threads := map[tracks.Track]*firefoxThread{}
	for n, row := range m.rows {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		track := m.track(row)
		thread := threads[track]
		if thread == nil {
			thread = newFirefoxThread()
			thread.PID, thread.TID = track.PID, track.TID
			thread.Name, thread.ProcessName = m.threadName(track), m.processName(track)
			threads[track] = thread
			file.Profile.Threads = append(file.Profile.Threads, thread)
		}
		at := float64(m.at(row)) / 1e6
		file.Duration = max(file.Duration, at)
		thread.Samples.Data = append(thread.Samples.Data, []any{thread.stack(m.stack(row)), at, 0})
	}
	nameMain(file.Profile.Threads)
	interval := file.Duration / float64(max(len(m.rows)-1, 1))
	file.Profile.describe(title, interval)
	// Nothing runs after the last sample: readers that make calls of stacks need
	// an end of the last ones.
	file.Duration += interval
	for _, thread := range file.Profile.Threads {
		thread.Samples.Data = append(thread.Samples.Data, []any{nil, file.Duration, 0})
	}
	b := bufio.NewWriterSize(w, 1<<16)
	if err := json.NewEncoder(b).Encode(&file); err != nil {
		return err
	}
	return b.Flush()
}

// nameMain gives every process a thread that stands for it: its first, or the one
// with most samples where none has its number.
func nameMain(threads []*firefoxThread) {
	best := map[int64]*firefoxThread{}
	for _, t := range threads {
		old := best[t.PID]
		if old == nil || t.TID == t.PID || old.TID != old.PID && len(t.Samples.Data) > len(old.Samples.Data) {
			best[t.PID] = t
		}
	}
	for _, t := range best {
		t.Name = firefoxMain
	}
}

func (p *firefoxProfile) describe(title string, interval float64) {
	p.Libs, p.Pages, p.PausedRanges, p.Processes = []any{}, []any{}, []any{}, []any{}
	p.Meta = map[string]any{
		"version": geckoVersion, "interval": interval, "startTime": 0, "shutdownTime": nil, "processType": 0,
		"product": title, "stackwalk": 1, "debug": 0, "gcpoison": 0, "asyncstack": 0, "presymbolicated": true,
		"categories":   []any{map[string]any{"name": "Other", "color": "grey", "subcategories": []string{"Other"}}},
		"markerSchema": []any{}, "sampleUnits": map[string]string{"time": "ms", "eventDelay": "ms"},
	}
}
