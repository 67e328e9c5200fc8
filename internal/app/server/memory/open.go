package memory

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Open shows a set of samples as a run that is named by its content.
func Open(name, path string, set *dataset.Set) *frame.Run {
	return open(contentID(name, set), name, path, set)
}

// OpenAs shows a set of samples that is in no file under an id of its own.
func OpenAs(id, name string, set *dataset.Set) *frame.Run { return open(id, name, "", set) }

func open(id, name, path string, set *dataset.Set) *frame.Run {
	origin := set.Run.Origin
	r := &frame.Run{
		ID: id, Name: name, Path: path, Kind: string(set.Run.Kind), Format: set.Run.Format,
		Sources: set.Run.SourceFiles, Warnings: set.Run.Warnings, Caveats: caveats(set.Table),
		Origin:  frame.Origin{Host: origin.Host, Command: origin.Command, Time: origin.Time, Tool: origin.Tool},
		Changed: set.Run.Changed, Release: set.Close, Foreign: set.Run.Path == "" && path != "",
	}
	part := &Samples{
		Run: r, Manifest: &set.Run.Manifest, Data: set.Data, Engine: set.Engine, Places: set.Places, Topology: set.Topology,
		Code: set.Run.Table(symbol.ListingTable), Names: set.Run.Names,
		Gaps: set.Run.Table("gaps"), Touches: set.Run.Table("touches"), Allocations: set.Run.Table("allocations"),
	}
	r.Put(part)
	switch {
	case set.Topology == nil:
		r.TopologyNote = "This data has no hardware topology."
	case set.Places == nil:
		r.TopologyNote = "The samples do not say on which CPU they were taken, so that none has a place on the topology."
	}
	if set.Run.Path != "" {
		part.SaveNames = set.Run.SaveNames
		r.Save = func(list []frame.NamedSelection) error {
			named := map[string]string{}
			for _, n := range list {
				named[n.Name] = n.Where
			}
			return set.Run.SaveSelections(named)
		}
	}
	named, err := set.Run.Selections()
	if err != nil {
		r.Warnings = append(slices.Clone(r.Warnings), err.Error())
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		r.Selections = append(r.Selections, frame.NamedSelection{Name: name, Where: named[name]})
	}
	return r
}

// contentID names samples by their content.
func contentID(name string, set *dataset.Set) string {
	h, t := sha256.New(), set.Stored
	fmt.Fprintf(h, "%s %d\n", t.Name, t.Rows())
	if t.Elsewhere() {
		writeField(h, set.Digest)
		return frame.Identity(name, h)
	}
	step := max(1, t.Rows()/frame.IdentityRows)
	for _, c := range t.Columns() {
		fmt.Fprintf(h, "%q %v\n", c.Name, c.Kind)
		for i := 0; i < t.Rows(); i += step {
			writeField(h, c.Text(i))
		}
	}
	return frame.Identity(name, h)
}

func writeField(h hash.Hash, text string) {
	io.WriteString(h, text)
	h.Write([]byte{0})
}

// caveats says what sampling hides or distorts, as far as the samples show it.
func caveats(t *table.Table) []string {
	var out []string
	if c := t.Column(samples.Latency); c != nil {
		if lowest, ok := describeColumn(c).Min.(int32); ok && c.Provenance != table.Modelled && lowest >= thresholdFrom {
			out = append(out, fmt.Sprintf("No sample took less than %s: faster accesses were below the recorder's threshold and are not in this data.", strings.TrimSpace(fmt.Sprint(lowest, " ", samples.UnitOf(c)))))
		}
	}
	for _, name := range []string{samples.Latency, samples.Level, samples.Weight} {
		if c := t.Column(name); c != nil && c.Note != "" {
			out = append(out, name+": "+c.Note)
		}
	}
	return out
}

// thresholdFrom is more than an L1 hit takes on any machine that samples
// latency: data that starts there was filtered.
const thresholdFrom = 10
