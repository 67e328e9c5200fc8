package demo

import (
	"fmt"
	"math/rand/v2"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

// Uniform returns n samples in which nothing depends on anything: CPU, line,
// array, element, cell, level and time are drawn independently. Whatever an
// analysis finds in it is noise. The latency alone depends on the level.
//
// unused: by the program; tests of what finds things need data without any.
func Uniform(n int, seed uint64) (*Run, error) {
	r := rand.New(rand.NewPCG(seed, 4))
	cfg := cachesim.TwoSocket()
	tm, err := newTeam(cfg, []int{0}, 1, seed)
	if err != nil {
		return nil, err
	}
	const lines = 12
	text := ""
	var sites []*site
	for i := range lines {
		text += fmt.Sprintf("x += a[random()]; /* %d */\n", i+1)
		sites = append(sites, &site{
			function: fmt.Sprintf("f%d", i/4), line: i + 1, instruction: "addsd (%rdi,%rcx,8),%xmm0",
			ip: textStart + uint64(i)*0x17, store: i%4 == 3,
		})
	}
	var h heap
	var objects []*object
	for i := range 4 {
		objects = append(objects, h.array(fmt.Sprintf("a%d", i), 8, 1<<16))
	}
	for range n {
		cpu := r.IntN(len(cfg.CPUs))
		home := r.IntN(cfg.Sockets())
		res := anyResult(r, &cfg, home == cfg.CPUs[cpu].Socket)
		tm.samples = append(tm.samples, sample{
			time: r.Int64N(int64(n) * 1000), cpu: cpu, tid: cpu,
			site: sites[r.IntN(lines)], object: objects[r.IntN(len(objects))], index: r.IntN(1 << 16),
			x: r.IntN(64), y: r.IntN(64), z: r.IntN(64), n: r.IntN(16),
			result: res, latency: res.Latency, home: home,
		})
	}
	return tm.finish(program{
		name: "uniform", command: []string{"./uniform"}, source: newSource("uniform.c", text), text: text, objects: objects,
	})
}

// anyResult draws a level: mostly L1, one in eight from memory, which is local
// or remote as the page happens to be.
func anyResult(r *rand.Rand, cfg *cachesim.Config, local bool) cachesim.Result {
	res := cachesim.Result{Source: cachesim.L1}
	switch base := 0; r.IntN(8) {
	case 0:
		res.Source, base = cachesim.RemoteRAM, cfg.RemoteRAM
		if local {
			res.Source, base = cachesim.LocalRAM, cfg.LocalRAM
		}
		res.Latency = base + r.IntN(60)
	case 1:
		res.Source, res.Latency = cachesim.L3, cfg.Levels[2].Latency+r.IntN(20)
	case 2:
		res.Source, res.Latency = cachesim.L2, cfg.Levels[1].Latency
	default:
		res.Latency = cfg.Levels[0].Latency
	}
	return res
}
