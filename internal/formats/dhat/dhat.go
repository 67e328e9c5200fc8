// Package dhat reads what Valgrind's heap profiler writes (dhat.out, JSON,
// version 2): for each place that allocates how much, how long it lived and how
// often it was read and written.
package dhat

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/codesums"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and reads profiles of DHAT.
var Format = foreign.Format{Name: "DHAT", Kind: kind.Samples, Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head) }, Samples: foreign.StreamedSamples(parse)}

// maxBytes is what a profile may take: the largest seen, of a browser, had 50 MB.
const maxBytes = 256 << 20

// version is the version of the format that is read.
const version = 2

func sniff(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head[:min(len(head), 1024)], []byte(`"dhatFileVersion"`))
}

// file is the document. Fields that only one mode has are absent in others.
type file struct {
	Version int      `json:"dhatFileVersion"`
	Mode    string   `json:"mode"`
	Verb    string   `json:"verb"`
	Unit    string   `json:"tu"`
	Amount  string   `json:"bsu"`  // what is summed, if not bytes
	Times   string   `json:"bksu"` // what is counted, if not blocks
	Command string   `json:"cmd"`
	Points  []point  `json:"pps"`
	Frames  []string `json:"ftbl"`
}

// point is what one stack of calls allocated.
type point struct {
	Bytes    int64  `json:"tb"`
	Blocks   int64  `json:"tbk"`
	Lifetime *int64 `json:"tl"`
	AtPeak   *int64 `json:"gb"`
	AtEnd    *int64 `json:"eb"`
	Read     *int64 `json:"rb"`
	Written  *int64 `json:"wb"`
	Stack    []int  `json:"fs"` // innermost first, into ftbl
}

func parse(ctx context.Context, r io.Reader, _ *foreign.Options) (*foreign.Imported, error) {
	data, err := foreign.ReadWhole(r, maxBytes)
	if err != nil {
		return nil, err
	}
	var d file
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("not a profile of DHAT: %w", err)
	}
	if d.Version != version {
		return nil, fmt.Errorf("version %d of DHAT's format; version %d is read", d.Version, version)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := d.profile()
	if err != nil {
		return nil, err
	}
	out, err := p.Imported()
	if err == nil && d.Command != "" {
		out.Origin.Command = []string{d.Command}
	}
	return out, err
}

// optional are the sums that depend on the mode.
var optional = []struct {
	event codesums.Event
	of    func(*point) *int64
}{
	{codesums.Event{Name: "lifetime"}, func(p *point) *int64 { return p.Lifetime }},
	{codesums.Event{Name: "bytes_at_peak", Unit: "bytes"}, func(p *point) *int64 { return p.AtPeak }},
	{codesums.Event{Name: "bytes_at_end", Unit: "bytes"}, func(p *point) *int64 { return p.AtEnd }},
	{codesums.Event{Name: "bytes_read", Unit: "bytes"}, func(p *point) *int64 { return p.Read }},
	{codesums.Event{Name: "bytes_written", Unit: "bytes"}, func(p *point) *int64 { return p.Written }},
}

// verbs are what a mode sums, in columns' words: the heap, copies, and what a
// program reports of itself.
var verbs = map[string]string{allocated: "allocated", "Copied": "copied", "Occurred": "reported"}

// allocated is the verb of the mode in which a place is that of a data object.
const allocated = "Allocated"

func (d *file) profile() (*codesums.Profile, error) {
	amount := cmp.Or(d.Amount, "bytes")
	what := codesums.Event{Name: amount, Unit: amount}
	if verb, ok := verbs[d.Verb]; ok {
		what.Name += "_" + verb
	}
	p := &codesums.Profile{Tool: "dhat", Events: []codesums.Event{what, {Name: cmp.Or(d.Times, "blocks")}}}
	var have []int
	for i, o := range optional {
		if len(d.Points) > 0 && o.of(&d.Points[0]) != nil {
			event := o.event
			if event.Name == "lifetime" {
				event.Unit = d.Unit
			}
			p.Events = append(p.Events, event)
			have = append(have, i)
		}
	}
	for i := range d.Points {
		at := &d.Points[i]
		row := codesums.Row{Values: []int64{at.Bytes, at.Blocks}}
		for _, k := range have {
			v := optional[k].of(at)
			if v == nil {
				return nil, fmt.Errorf("place %d has no %s, though others have", i, optional[k].event.Name)
			}
			row.Values = append(row.Values, *v)
		}
		for k := len(at.Stack) - 1; k >= 0; k-- {
			n := at.Stack[k]
			if n < 0 || n >= len(d.Frames) {
				return nil, fmt.Errorf("place %d names frame %d of %d", i, n, len(d.Frames))
			}
			if n > 0 { // 0 is the root
				row.Frames = append(row.Frames, parseFrame(d.Frames[n]))
			}
		}
		var object string
		row.Frames, object = withoutAllocator(row.Frames)
		if d.Verb == allocated {
			row.Object = object
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

// A frame is "0x109195: make (t.c:4)", or "… (in /usr/lib/libc.so.6)"; Rust's
// library also has the column: "… (main.rs:4:9)".
var frameText = regexp.MustCompile(`^(?:0x[0-9A-Fa-f]+: )?(.*?)(?: \((?:in [^)]*|([^()]+?):(\d+)(?::\d+)?)\))?$`)

func parseFrame(text string) symbol.Frame {
	m := frameText.FindStringSubmatch(text)
	if m == nil {
		return symbol.Frame{Function: text}
	}
	line, _ := strconv.Atoi(m[3])
	return symbol.Frame{Function: m[1], File: m[2], Line: line}
}

// withoutAllocator takes off the innermost calls that Valgrind itself put in
// place of the allocator, and names the object after the call to it.
func withoutAllocator(frames []symbol.Frame) ([]symbol.Frame, string) {
	for len(frames) > 1 && frames[len(frames)-1].File == "" {
		frames = frames[:len(frames)-1]
	}
	if len(frames) == 0 {
		return nil, ""
	}
	f := frames[len(frames)-1]
	if f.File == "" {
		return frames, f.Function
	}
	return frames, fmt.Sprintf("%s:%d", f.File, f.Line)
}
