// Cycles measures the analysis of reference traces: against ripser on the same
// points, and on three million windows.
//
// Ripser gets the distance matrix and computes bars. We get the trace and
// compute windows, distances, bars, cocycles, coordinates and windings. Times
// are CPU seconds of a process of its own, memory is its peak.
package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"isobath/internal/cycle"
)

func main() {
	run := compare
	if len(os.Args) == 4 && os.Args[1] == "ours" {
		run = func() error { return ours(os.Args[2], os.Args[3]) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench cycles:", err)
		os.Exit(1)
	}
}

// product is the data references of a product of 12 x 12 matrices compiled
// without optimisation: loop counters on the stack, three arrays.
func product() []uint32 {
	const size = 12
	const i, j, k = 0, 1, 2
	a := func(r, c int) uint32 { return uint32(3 + r*size + c) }
	b := func(r, c int) uint32 { return a(r, c) + size*size }
	c := func(r, c int) uint32 { return b(r, c) + size*size }
	out := []uint32{i}
	for r := range size {
		out = append(out, i, j)
		for col := range size {
			out = append(out, j, k)
			for n := range size {
				out = append(out, i, j, c(r, col), i, k, a(r, n), k, j, b(n, col), i, j, c(r, col), k, k, k)
			}
			out = append(out, j, j)
		}
		out = append(out, i, i)
	}
	return out
}

// bubble is the instructions of a bubble sort of 300 numbers in a vector: 38
// references for a comparison, 57 more for a swap, 20 more for a pass.
func bubble() []uint32 {
	rng := rand.New(rand.NewPCG(1, 2))
	value := rng.Perm(1000)[:300]
	var out []uint32
	emit := func(from, n uint32) {
		for s := range n {
			out = append(out, from+s)
		}
	}
	for pass := range value {
		swapped := false
		emit(0, 10)
		for i := range len(value) - 1 - pass {
			emit(10, 30)
			if value[i] > value[i+1] {
				value[i], value[i+1] = value[i+1], value[i]
				swapped = true
				emit(40, 57)
			}
			emit(97, 8)
		}
		emit(105, 10)
		if !swapped {
			break
		}
	}
	return out
}

// firstPoints cuts a string so that it has n distinct windows.
func firstPoints(syms []uint32, n int) ([]uint32, error) {
	p, err := cycle.Windows(context.Background(), syms, cycle.DefaultWindow)
	if err != nil {
		return nil, err
	}
	if p.Len() < n {
		return nil, fmt.Errorf("%d points, want %d", p.Len(), n)
	}
	return syms[:int(p.First[n-1])+cycle.DefaultWindow], nil
}

// ours is the measured process.
func ours(points, eps string) error {
	n, err := strconv.Atoi(points)
	if err != nil {
		return err
	}
	limit, err := strconv.Atoi(eps)
	if err != nil {
		return err
	}
	var syms []uint32
	if n == 0 {
		syms = bubble()
	} else if syms, err = firstPoints(product(), n); err != nil {
		return err
	}
	tr := &cycle.Trace{Every: 1, Records: uint64(len(syms)), Syms: syms}
	r, err := cycle.Analyse(context.Background(), tr, cycle.Options{Cap: limit})
	if err != nil {
		return err
	}
	fmt.Println(len(r.Bars), len(r.Points.Index), len(r.Classes))
	return nil
}

type usage struct {
	seconds, megabytes float64
	out                string
}

func measure(stdin []byte, name string, args ...string) (usage, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return usage{}, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	ru := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return usage{
		seconds:   float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e9,
		megabytes: float64(ru.Maxrss) / 1024,
		out:       string(out),
	}, nil
}

func compare() error {
	ripser, err := exec.LookPath("ripser")
	if err != nil {
		return fmt.Errorf("ripser is not installed; install the Debian package ripser")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, c := range [][2]int{{1000, 3}, {1000, 4}, {2000, 3}, {2000, 4}} {
		if err := against(ripser, self, c[0], c[1]); err != nil {
			return err
		}
	}
	mine, err := measure(nil, self, "ours", "0", "10")
	if err != nil {
		return err
	}
	windows := strings.Fields(mine.out)[1]
	fmt.Printf("bench cycles/%s-windows ours=%.2fs peer=none ratio=none bar=3s %s\n", windows, mine.seconds, verdict(mine.seconds <= 3))
	return nil
}

// against runs both on the same points and prints a row each for time and
// memory.
func against(ripser, self string, n, eps int) error {
	matrix, err := lowerDistance(n, eps)
	if err != nil {
		return err
	}
	mine, err := measure(nil, self, "ours", strconv.Itoa(n), strconv.Itoa(eps))
	if err != nil {
		return err
	}
	peer, err := measure(matrix, ripser, "--format", "lower-distance", "--dim", "1", "--threshold", strconv.Itoa(eps))
	if err != nil {
		return err
	}
	_, dim1, _ := strings.Cut(peer.out, "in dim 1:")
	if bars := strings.Count(dim1, "["); strconv.Itoa(bars) != strings.Fields(mine.out)[0] {
		return fmt.Errorf("n=%d eps=%d: ripser has %d bars, we have %s", n, eps, bars, strings.Fields(mine.out)[0])
	}
	name := fmt.Sprintf("cycles/n%d-eps%d", n, eps)
	row(name, mine.seconds, peer.seconds, "s")
	row(name+"-memory", mine.megabytes, peer.megabytes, "MB")
	return nil
}

func row(name string, mine, peer float64, unit string) {
	fmt.Printf("bench %s ours=%.2f%s peer=%.2f%s ratio=%.2f bar=1.00 %s\n",
		name, mine, unit, peer, unit, peer/mine, verdict(peer >= mine))
}

func verdict(ok bool) string {
	if ok {
		return "ok"
	}
	return "short"
}

func lowerDistance(n, eps int) ([]byte, error) {
	syms, err := firstPoints(product(), n)
	if err != nil {
		return nil, err
	}
	p, err := cycle.Windows(context.Background(), syms, cycle.DefaultWindow)
	if err != nil {
		return nil, err
	}
	m, err := cycle.Distances(context.Background(), p, eps)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for i := 1; i < m.N; i++ {
		for j := range i {
			b.WriteString(strconv.Itoa(m.At(i, j)))
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), nil
}
