package table

import (
	"errors"
	"math"
)

// GrowingInts is Growing for whole numbers, which are kept in 32 bits as long
// as they fit.
type GrowingInts struct {
	small  Growing[int32]
	wide   Growing[int64]
	isWide bool
	err    error
}

// Stay keeps all values in memory; see Growing.
func (g *GrowingInts) Stay() { g.small.Stay, g.wide.Stay = true, true }

// Len returns the number of values.
func (g *GrowingInts) Len() int {
	if g.isWide {
		return g.wide.Len()
	}
	return g.small.Len()
}

// Pad appends zeros until there are n values.
func (g *GrowingInts) Pad(n int) {
	if g.isWide {
		g.wide.Pad(n)
		return
	}
	g.small.Pad(n)
}

// Append adds a value.
func (g *GrowingInts) Append(v int64) {
	if !g.isWide {
		if int64(int32(v)) == v {
			g.small.Append(int32(v))
			return
		}
		g.Widen()
	}
	g.wide.Append(v)
}

// Room is Growing.Room for values of which the caller knows that they fit in
// 32 bits. It returns either of the two forms, whichever there is.
func (g *GrowingInts) Room(n int) ([]int32, []int64) {
	if g.isWide {
		return nil, g.wide.Room(n)
	}
	return g.small.Room(n), nil
}

// Widen moves what there is to 64 bits, which is final.
func (g *GrowingInts) Widen() {
	if g.isWide {
		return
	}
	g.isWide = true
	values, spill, err := g.small.Values()
	for len(values) > 0 {
		block := g.wide.Room(len(values))
		for i := range block {
			block[i] = int64(values[i])
		}
		values = values[len(block):]
	}
	g.small = Growing[int32]{}
	g.err = errors.Join(g.err, err, spill.Close())
}

// Fits32 reports whether numbers whose bits are all in the given ones fit in 32
// bits as int32.
func Fits32(all uint64) bool { return all <= math.MaxInt32 }

// Values returns the numbers as []int32 or []int64; see Growing.Values.
func (g *GrowingInts) Values() (any, *Spill, error) {
	if g.isWide {
		v, spill, err := g.wide.Values()
		return v, spill, errors.Join(g.err, err)
	}
	v, spill, err := g.small.Values()
	return v, spill, err
}

// Column makes a column of the numbers.
func (g *GrowingInts) Column(name, unit string, p Provenance) (*Column, error) {
	values, spill, err := g.Values()
	if err != nil {
		return nil, err
	}
	c := &Column{Name: name, Kind: Number, Unit: unit, Provenance: p, Data: values}
	return c.Back(spill), nil
}
