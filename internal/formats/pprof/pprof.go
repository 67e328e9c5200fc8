// Package pprof reads profiles in the format of github.com/google/pprof
// (profile.proto, usually packed with gzip), which Go, gperftools, and many
// services write.
package pprof

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/codesums"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and reads pprof profiles.
var Format = foreign.Format{Name: "pprof", Kind: kind.Samples, Sniff: func(in *foreign.Input) bool { return !in.Dir() && sniff(in.Head) }, Samples: foreign.StreamedSamples(parse)}

// maxBytes is what an unpacked profile may take: those of services have a few
// megabytes.
const maxBytes = 512 << 20

// The fields of profile.proto's Profile and their wire types: 2 is a length and
// bytes, 0 a number. Lists of numbers may be packed.
var wire = [...]uint64{1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 0, 8: 0, 9: 0, 10: 0, 11: 2, 12: 0, 13: 0, 14: 0, 15: 0}

// sniff wants a message whose fields, as far as they are seen, are those of a
// profile, with a type of value among them. Writers differ in the order.
func sniff(head []byte) bool {
	fields, types := 0, 0
	for ; len(head) > 0 && fields < 64; fields++ {
		key, n := binary.Uvarint(head)
		field, kind := key>>3, key&7
		if n <= 0 || field == 0 || field >= uint64(len(wire)) || kind != wire[field] && !(field == 13 && kind == 2) {
			return false
		}
		head = head[n:]
		v, n := binary.Uvarint(head)
		if n <= 0 {
			return len(head) < binary.MaxVarintLen64 && types > 0
		}
		head = head[n:]
		if kind != 2 {
			continue
		}
		if v > uint64(len(head)) {
			break // goes on beyond the head
		}
		if field == 1 || field == 11 {
			if !valueType(head[:v]) {
				return false
			}
			types++
		}
		head = head[v:]
	}
	return types > 0 && fields > 1
}

// valueType reports whether the bytes are a message of two numbers.
func valueType(b []byte) bool {
	for len(b) > 0 {
		if b[0] != 1<<3 && b[0] != 2<<3 {
			return false
		}
		_, n := binary.Uvarint(b[1:])
		if n <= 0 {
			return false
		}
		b = b[1+n:]
	}
	return true
}

func parse(ctx context.Context, r io.Reader, _ *foreign.Options) (*foreign.Imported, error) {
	data, err := foreign.ReadWhole(r, maxBytes)
	if err != nil {
		return nil, err
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, fmt.Errorf("not a readable profile: %w", err)
	}
	if err := p.CheckValid(); err != nil {
		return nil, fmt.Errorf("the profile contradicts itself: %w", err)
	}
	if len(p.SampleType) == 0 {
		return nil, fmt.Errorf("the profile does not say what its values are")
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return convert(p).Imported()
}

func convert(p *profile.Profile) *codesums.Profile {
	out := &codesums.Profile{Tool: "pprof", Cost: len(p.SampleType) - 1, Notes: p.Comments, Units: map[string]string{}}
	for i, t := range p.SampleType {
		out.Events = append(out.Events, codesums.Event{Name: t.Type, Unit: unit(t.Unit)})
		if p.DefaultSampleType != "" && t.Type == p.DefaultSampleType {
			out.Cost = i
		}
	}
	// An event of that name is pprof's word for samples of the time.
	out.Counts = p.SampleType[0].Type == "samples" && p.SampleType[0].Unit == "count"
	for _, s := range p.Sample {
		row := codesums.Row{Values: s.Value, Frames: frames(s.Location), Labels: map[string]string{}, Numbers: map[string]int64{}}
		for key, values := range s.Label {
			row.Labels[key] = strings.Join(values, ", ")
		}
		for key, values := range s.NumLabel {
			if len(values) > 0 { // the format allows several; writers give one
				row.Numbers[key] = values[0]
			}
			if units := s.NumUnit[key]; len(units) > 0 && units[0] != "" {
				out.Units[key] = unit(units[0])
			}
		}
		if len(s.Location) > 0 {
			row.Address = s.Location[0].Address
			if m := s.Location[0].Mapping; m != nil {
				row.Module = m.File
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// unit writes a unit as columns have it.
func unit(u string) string {
	switch u {
	case "nanoseconds":
		return "ns"
	case "count":
		return ""
	}
	return u
}

// frames lists the calls outermost first; a location has the functions that
// were inlined there, innermost first.
func frames(locations []*profile.Location) []symbol.Frame {
	var out []symbol.Frame
	for _, l := range locations {
		if len(l.Line) == 0 {
			out = append(out, symbol.Frame{Function: fmt.Sprintf("%#x", l.Address)})
		}
		for _, line := range l.Line {
			f := symbol.Frame{Line: int(line.Line)}
			if line.Function != nil {
				f.Function, f.File = line.Function.Name, line.Function.Filename
			}
			out = append(out, f)
		}
	}
	slices.Reverse(out)
	return out
}
