package synth

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
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
	tree, err := machine()
	if err != nil {
		return nil, err
	}
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
			Manifest: run.Manifest{Kind: kind.Samples, Format: "synth", Topology: "topology.json", Origin: kind.Origin{Host: hostName(i)}, Recording: &run.Recording{Rank: &i, Samples: rows}},
			Contents: []*table.Table{s.table()}, Tree: tree, TopologyData: tree,
		}
		if err := recorded.Write(ctx, paths[i], true); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// machine is what each host is: two sockets, each with its memory and L3, and the
// CPUs that samples name.
func machine() (json.RawMessage, error) {
	const sockets = 2
	var spec hw.Spec
	for s := range sockets {
		var inside hw.CPUs
		for cpu := s * cpus / sockets; cpu < (s+1)*cpus/sockets; cpu++ {
			one := hw.CPUs{cpu}
			inside = append(inside, cpu)
			spec.Objects = append(spec.Objects, hw.Object{Kind: hw.CPU, OS: cpu, CPUs: one}, hw.Object{Kind: hw.Cache1, OS: -1, CPUs: one, Size: 32 << 10},
				hw.Object{Kind: hw.Cache2, OS: -1, CPUs: one, Size: 1 << 20})
		}
		spec.Objects = append(spec.Objects, hw.Object{Kind: hw.Package, OS: s, CPUs: inside}, hw.Object{Kind: hw.NUMA, OS: s, CPUs: inside, Size: 64 << 30},
			hw.Object{Kind: hw.Cache3, OS: -1, CPUs: inside, Size: 32 << 20})
	}
	topology, err := hw.Build(spec)
	if err != nil {
		return nil, err
	}
	return json.Marshal(topology)
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
