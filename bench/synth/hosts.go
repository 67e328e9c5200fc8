package synth

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
)

// The places of the odd hosts among those of WriteHosts.
const (
	slowHost   = 37  // its memory answers half as fast
	remoteHost = 200 // one in five of its cheap accesses goes to the other socket
)

// OddHosts are the names of the hosts that are unlike the others.
var OddHosts = []string{hostName(slowHost), hostName(remoteHost)}

func hostName(i int) string { return fmt.Sprintf("node%04d", i) }

// WriteHosts writes the recordings of one program on many hosts, a run of so many
// samples each, and returns where they are. Like hosts differ by the draw of their
// samples and by a percent of speed.
func WriteHosts(ctx context.Context, dir string, hosts, rows int) ([]string, error) {
	var paths []string
	for i := range hosts {
		s := drawn(rows, uint64(i+1))
		r := random(i + 1)
		s.slowDown(0.99 + 0.02*r.float())
		switch i {
		case slowHost:
			s.slowMemory(2)
		case remoteHost:
			s.goRemote(&r, 5)
		}
		paths = append(paths, filepath.Join(dir, hostName(i)+run.Suffix))
		recorded := run.Run{
			Manifest: run.Manifest{Kind: kind.Samples, Format: "synth", Origin: kind.Origin{Host: hostName(i)}, Recording: &run.Recording{Rank: &i, Samples: rows}},
			Contents: []*table.Table{s.table()},
		}
		if err := recorded.Write(ctx, paths[i], true); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

func (s *columns) slowDown(by float64) {
	for i, v := range s.latency {
		s.latency[i] = int32(float64(v) * by)
	}
}

// slowMemory multiplies the latency of what memory serves.
func (s *columns) slowMemory(by int32) {
	local := uint32(slices.Index(levels, "Local RAM"))
	for i, level := range s.level {
		if level >= local {
			s.latency[i] *= by
		}
	}
}

// goRemote serves one in some of the accesses from the other socket.
func (s *columns) goRemote(r *random, one int) {
	remote := slices.Index(levels, "Remote RAM")
	for i := range s.level {
		if r.below(one) == 0 {
			s.level[i], s.latency[i], s.hit[i] = uint32(remote), int32(350*(1+r.float())), 0
		}
	}
}
