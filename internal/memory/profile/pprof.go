package profile

import (
	"io"

	"github.com/google/pprof/profile"

	"github.com/isobath/isobath/internal/code/symbol"
)

// WritePprof writes a gzip-compressed profile of github.com/google/pprof. Each
// frame is a location of its own; latency is a second value where samples have
// one.
func WritePprof(w io.Writer, stacks []Stack, unit string) error {
	// One mapping that says everything is known, or pprof looks for the program.
	mapping := &profile.Mapping{ID: 1, HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}},
		PeriodType: &profile.ValueType{Type: "samples", Unit: "count"},
		Period:     1,
		Mapping:    []*profile.Mapping{mapping},
	}
	latency := false
	for _, s := range stacks {
		latency = latency || s.Valued > 0
	}
	if latency {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: "latency", Unit: unit})
	}
	places := &locations{profile: p, functions: map[[2]string]*profile.Function{}, byFrame: map[symbol.Frame]*profile.Location{}}
	for _, s := range stacks {
		sample := &profile.Sample{Value: []int64{s.Samples}}
		if latency {
			sample.Value = append(sample.Value, s.Latency)
		}
		for i := len(s.Frames) - 1; i >= 0; i-- { // pprof has the innermost first
			sample.Location = append(sample.Location, places.of(s.Frames[i]))
		}
		p.Sample = append(p.Sample, sample)
	}
	return p.Write(w)
}

// locations numbers functions and places as a profile wants them.
type locations struct {
	profile   *profile.Profile
	functions map[[2]string]*profile.Function
	byFrame   map[symbol.Frame]*profile.Location
}

func (l *locations) of(f symbol.Frame) *profile.Location {
	if at := l.byFrame[f]; at != nil {
		return at
	}
	key := [2]string{f.Function, f.File}
	function := l.functions[key]
	if function == nil {
		function = &profile.Function{ID: uint64(len(l.functions) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
		l.functions[key] = function
		l.profile.Function = append(l.profile.Function, function)
	}
	at := &profile.Location{ID: uint64(len(l.byFrame) + 1), Mapping: l.profile.Mapping[0], Line: []profile.Line{{Function: function, Line: int64(f.Line)}}}
	l.byFrame[f] = at
	l.profile.Location = append(l.profile.Location, at)
	return at
}
