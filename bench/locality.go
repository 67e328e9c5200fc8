package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"

	"github.com/isobath/isobath/internal/base/test"
)

// locality measures reuse distances, the whole pass, caches and a changed
// layout, in processor time beyond what making the references takes.
func locality(ctx context.Context, dir, isobath string) ([]Result, error) {
	program := filepath.Join(dir, "locality")
	if err := buildGo(ctx, "./bench/locality", program); err != nil {
		return nil, err
	}
	var results []Result
	textbook, err := beyondMaking(ctx, program, "textbook", 20_000_000)
	if err != nil {
		return nil, err
	}
	for _, r := range []struct {
		work  string
		n     int
		most  float64 // ns a reference
		reads string
	}{{"distances", 20_000_000, 30, "locality-distances"}, {"pass", 20_000_000, 100, "locality-pass"}, {"caches", 20_000_000, 40, "locality-caches"}} {
		ns, err := beyondMaking(ctx, program, r.work, r.n)
		if err != nil {
			return results, err
		}
		results = append(results, limit(r.reads, ns, "ns-cpu", r.most), besideTextbook(r.reads, ns, textbook, "ns-cpu", r.most/textbookNS))
	}
	long, err := measure(ctx, 1, program, "pass", "50000000")
	if err != nil {
		return results, err
	}
	results = append(results, limit("locality-pass-50M-time", long.cpu, "s-cpu", 6), besideTextbook("locality-pass-50M-time", long.cpu, textbook*0.05, "s-cpu", 6/(textbookNS*0.05)), limit("locality-pass-50M-memory", long.rss, "MB", 1000))
	layout, err := beyond(ctx, "keep", 3_500_000, program, "layout", "3500000")
	if err != nil {
		return results, err
	}
	results = append(results, limit("locality-layout-3.5M", layout*3.5e6/1e9, "s-cpu", 1))
	args := []string{"machines", "10000000"}
	if shared := filepath.Join(test.Root(), "..", "shared", "data", "topology"); isFolder(shared) {
		args = append(args, shared)
	}
	machines, err := beyond(ctx, "keep", 10_000_000, append([]string{program}, args...)...)
	if err != nil {
		return results, err
	}
	results = append(results, limit("locality-machines-10M", machines*10e6/1e9, "s-cpu", 60))
	if results, err = growth(ctx, program, long.rss, results); err != nil {
		return results, err
	}
	return streamed(ctx, program, isobath, results)
}

// textbookNS is what a reference took with a hash table and a Fenwick tree where the
// bars were set.
const textbookNS = 96

// besideTextbook is a row that does not depend on how quick the machine is today: it
// compares with the textbook's distances in the same run.
func besideTextbook(name string, ours, peer float64, unit string, most float64) Result {
	return Result{Name: name + "-textbook", Ours: ours, Peer: peer, Unit: unit, Versus: "hash table and Fenwick tree", Ratio: ours / peer, Bar: most}
}

// streamed is how much more memory verbs take for four times as many references that
// come as text through a pipe.
func streamed(ctx context.Context, program, isobath string, results []Result) ([]Result, error) {
	for _, verb := range []struct{ name, row string }{{"reuse", "locality-stream-growth"}, {"cycles", "cycles-stream-growth"}, {"loops", "loops-stream-growth"}} {
		var took [2]usage
		for i, n := range []string{"5000000", "20000000"} {
			var err error
			if took[i], err = measure(ctx, 1, "sh", "-c", `"$1" text "$3" | "$2" "$4" - --json`, "sh", program, isobath, n, verb.name); err != nil {
				return results, err
			}
		}
		results = append(results, limit(verb.row, took[1].rss/took[0].rss, "ratio", 1.2))
	}
	return results, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// growth is how much more memory a pass over ten times as many references to the
// same data takes.
func growth(ctx context.Context, program string, most float64, results []Result) ([]Result, error) {
	short, err := measure(ctx, 1, program, "pass", "5000000")
	if err != nil {
		return results, err
	}
	return append(results, limit("locality-pass-growth", most/short.rss, "ratio", 1.2)), nil
}

// beyondMaking is the nanoseconds a reference that work takes beyond making it.
func beyondMaking(ctx context.Context, program, work string, n int) (float64, error) {
	return beyond(ctx, "generate", n, program, work, strconv.Itoa(n))
}

// beyond is the nanoseconds a reference that a command takes beyond what comes
// first in it.
func beyond(ctx context.Context, first string, n int, command ...string) (float64, error) {
	making, err := measure(ctx, 3, command[0], first, strconv.Itoa(n))
	if err != nil {
		return 0, err
	}
	rounds := 3
	if n >= 10_000_000 && first == "keep" {
		rounds = 1 // a minute, nearly
	}
	whole, err := measure(ctx, rounds, command[0], command[1:]...)
	if err != nil {
		return 0, err
	}
	return (whole.cpu - making.cpu) * 1e9 / float64(n), nil
}
