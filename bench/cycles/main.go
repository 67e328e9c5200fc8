// Cycles is the process that the rows of cycles measure.
//
//	cycles analyse POINTS EPS    analyse so many points of a matrix product, or
//	                             a bubble sort of three million windows for 0
//	cycles matrix POINTS EPS     print the distances of the points for ripser
//	cycles run FOLDER            write the bubble sort as a recorded run
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/loops/cycle"
)

func main() {
	if err := do(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cycles:", err)
		os.Exit(1)
	}
}

func do(args []string) error {
	if len(args) == 2 && args[0] == "run" {
		return writeRun(args[1])
	}
	if len(args) != 3 {
		return errors.New("want analyse or matrix, points, eps; or run, folder")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	eps, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	if args[0] == "matrix" {
		return printDistances(n, eps)
	}
	return analyse(n, eps)
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

// analyse does all that `isobath cycles` does after reading, and prints what it
// found as JSON.
func analyse(n, eps int) error {
	var syms []uint32
	var err error
	if n == 0 {
		syms = bubble()
	} else if syms, err = firstPoints(product(), n); err != nil {
		return err
	}
	tr := &cycle.Trace{Every: 1, Records: uint64(len(syms)), Syms: syms}
	r, err := cycle.Analyse(context.Background(), tr, cycle.Options{Window: cycle.DefaultWindow, Cap: eps})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]int{"bars": len(r.Bars), "windows": len(r.Points.Index), "classes": len(r.Classes)})
}

func printDistances(n, eps int) error {
	syms, err := firstPoints(product(), n)
	if err != nil {
		return err
	}
	p, err := cycle.Windows(context.Background(), syms, cycle.DefaultWindow)
	if err != nil {
		return err
	}
	m, err := cycle.Distances(context.Background(), p, eps)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(os.Stdout)
	for i := 1; i < m.N; i++ {
		for j := range i {
			b.WriteString(strconv.Itoa(m.At(i, j)))
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

// writeRun writes the bubble sort as a run: every instruction has a line, and
// touches the stack or the array that is sorted.
func writeRun(folder string) error {
	places := []refs.Place{{}}
	for line := range 12 {
		places = append(places, refs.Place{Function: "sort", File: "bubble.c", Line: 10 + line})
	}
	objects := []refs.Object{{}, {Name: "stack", Start: 0x7fff_ff00_0000}, {Name: "value", Start: 0x60_0000}}
	var all []refs.Ref
	for i, s := range bubble() {
		r := refs.Ref{Addr: objects[1].Start + 8*uint64(s%9), PC: 0x1000 + 4*uint64(s), Size: 8, Thread: 1, Place: 1 + s/10, Object: 1, Op: refs.Op(s % 2)}
		if s%7 == 0 {
			r.Addr, r.Object = objects[2].Start+8*uint64(i%300), 2
		}
		all = append(all, r)
	}
	has := refs.HasPC | refs.HasSize | refs.HasThread | refs.HasPlace | refs.HasObject
	t, err := reftable.New(all, places, objects, has)
	if err != nil {
		return err
	}
	r := &run.Run{Contents: []*table.Table{t}, Manifest: run.Manifest{Version: run.Version, Kind: kind.Refs, Format: "step", Imported: time.Now().UTC().Truncate(time.Second)}}
	return r.Write(context.Background(), folder, true)
}
