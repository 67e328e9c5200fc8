package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"

	"isobath/internal/hw"
	"isobath/internal/kernel"
	"isobath/internal/query"
	"isobath/internal/table"
)

// NewSamples prepares a run of samples for questions: it places them on the
// topology, which may be nil, and makes their engine. The caller fills in the
// rest of what is known.
func NewSamples(name string, t *table.Table, topology *hw.Topology) *Run {
	r := &Run{ID: contentID(name, t), Name: name, Kind: "samples", Topology: topology}
	r.Data.Table = t
	switch {
	case topology == nil:
		r.TopologyNote = "this data has no hardware topology; give one with isobath import --topology FILE"
	default:
		places, err := hw.PlaceRows(hw.NewPlacer(topology), t)
		if err != nil {
			r.TopologyNote = err.Error()
			break
		}
		r.Places = places
		r.Data.Placing = &query.Placing{Row: places.Code, Count: len(places.Coder.Places), Touching: places.Coder.Touching}
	}
	engine := kernel.New(r.Data, kernel.Options{})
	r.Engine = engine
	r.Close = func() error {
		engine.Close()
		return nil
	}
	r.Caveats = caveats(t)
	return r
}

// idRows is how many rows the hash of a run looks at, evenly spread: enough to
// tell runs apart, and the same for a small and a large one.
const idRows = 4096

// contentID names a run by its content, so that a link finds the same data
// again wherever it lies.
func contentID(name string, t *table.Table) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d\n", t.Name, t.Rows())
	step := max(1, t.Rows()/idRows)
	for _, c := range t.Columns() {
		fmt.Fprintf(h, "%q %v\n", c.Name, c.Kind)
		for i := 0; i < t.Rows(); i += step {
			writeField(h, c.Text(i))
		}
	}
	return slug(name) + "-" + hex.EncodeToString(h.Sum(nil)[:4])
}

func writeField(h hash.Hash, text string) {
	io.WriteString(h, text)
	h.Write([]byte{0})
}

// slug makes a short name that needs no escaping in a link.
func slug(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	name = strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, name), "-")
	if name == "" {
		return "run"
	}
	return name[:min(len(name), 24)]
}

// caveats says what sampling hides or distorts, as far as the samples show it.
func caveats(t *table.Table) []string {
	var out []string
	if c := t.Column("latency"); c != nil {
		if lowest, ok := describeColumn(c).Min.(int32); ok && c.Provenance == table.Measured && lowest >= thresholdFrom {
			out = append(out, fmt.Sprintf("No sample took less than %d cycles: faster accesses were below the recorder's threshold and are not in this data.", lowest))
		}
	}
	for _, name := range []string{"latency", "level", "weight"} {
		if c := t.Column(name); c != nil && c.Note != "" {
			out = append(out, name+": "+c.Note)
		}
	}
	return out
}

// thresholdFrom is more than an L1 hit takes on any machine that samples
// latency: data that starts there was filtered.
const thresholdFrom = 10
