package profile

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
)

// What follows is speedscope's own format
// (https://www.speedscope.app/file-format-schema.json): a list of frames, and
// profiles of stacks, outermost frame first, with a weight each.
type speedscopeFile struct {
	Schema   string              `json:"$schema"`
	Name     string              `json:"name"`
	Exporter string              `json:"exporter"`
	Shared   speedscopeShared    `json:"shared"`
	Profiles []speedscopeProfile `json:"profiles"`
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
}

type speedscopeProfile struct {
	Type    string  `json:"type"`
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Start   int64   `json:"startValue"`
	End     int64   `json:"endValue"`
	Samples [][]int `json:"samples"`
	Weights []int64 `json:"weights"`
}

// WriteSpeedscope writes stacks for speedscope: by samples, and by their
// latencies where there are any. It knows no unit of cycles, so the name of the
// profile has it.
func WriteSpeedscope(w io.Writer, stacks []Stack, name, unit string) error {
	out := speedscopeFile{Schema: "https://www.speedscope.app/file-format-schema.json", Name: name, Exporter: "isobath",
		Shared: speedscopeShared{Frames: []speedscopeFrame{}}}
	number := map[symbol.Frame]int{}
	indices := make([][]int, len(stacks))
	for i, s := range stacks {
		indices[i] = make([]int, len(s.Frames))
		for k, f := range s.Frames {
			n, ok := number[f]
			if !ok {
				n = len(number)
				number[f] = n
				out.Shared.Frames = append(out.Shared.Frames, speedscopeFrame{f.Function, f.File, f.Line})
			}
			indices[i][k] = n
		}
	}
	profile := func(name string, weight func(Stack) int64) speedscopeProfile {
		p := speedscopeProfile{Type: "sampled", Name: name, Unit: "none", Samples: [][]int{}, Weights: []int64{}}
		for i, s := range stacks {
			if n := weight(s); n > 0 {
				p.Samples, p.Weights = append(p.Samples, indices[i]), append(p.Weights, n)
				p.End += n
			}
		}
		return p
	}
	out.Profiles = []speedscopeProfile{profile("samples", func(s Stack) int64 { return s.Samples })}
	if latency := profile(strings.TrimSuffix("latency, "+unit, ", "), func(s Stack) int64 { return s.Latency }); latency.End > 0 {
		out.Profiles = append(out.Profiles, latency)
	}
	b := bufio.NewWriter(w)
	if err := json.NewEncoder(b).Encode(out); err != nil {
		return err
	}
	return b.Flush()
}
