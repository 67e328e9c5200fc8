// Cycles is the process that the rows of cycles measure.
//
//	cycles analyse POINTS EPS    analyse so many points of a matrix product, or
//	                             a bubble sort of three million windows for 0
//	cycles matrix POINTS EPS     print the distances of the points for ripser
//
// It imports nothing but the analysis: what reads and writes runs would be half
// of the sixteen megabytes that the rows of memory compare with ripser's.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/isobath/isobath/bench/cycles/bubble"
	"github.com/isobath/isobath/internal/loops/cycle"
)

func main() {
	if err := do(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cycles:", err)
		os.Exit(1)
	}
}

func do(args []string) error {
	if len(args) != 3 {
		return errors.New("want analyse or matrix, points, eps")
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
		syms = bubble.Instructions()
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
