package hw

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Rows is the place of every row of a table.
type Rows struct {
	Coder *Coder
	Code  []uint32 // of each row, an index of Coder.Places
}

// PlaceRows places the rows of a table by its columns cpu, level, remote, hops
// and home (the memory node of the page), of which only cpu is needed; on a
// cluster also by host.
func PlaceRows(p *Placer, t *table.Table) (*Rows, error) {
	cpu := t.Column("cpu")
	if cpu == nil || cpu.Kind != table.Number {
		return nil, fmt.Errorf("table %s has no cpu column of numbers: its samples cannot be placed on a topology", t.Name)
	}
	access, err := accessReader(t)
	if err != nil {
		return nil, err
	}
	hostOf, err := hostReader(p.Topology, t)
	if err != nil {
		return nil, err
	}
	coder := NewCoder(p)
	rows := &Rows{Coder: coder, Code: make([]uint32, t.Rows())}
	var lastPlace Place
	var lastCode uint32
	for i := range rows.Code {
		if i&(1<<20-1) == 0 {
			t.Release()
		}
		number := -1
		if cpu.Has(i) {
			number = int(cpu.Float(i))
		}
		pl := p.placeOn(hostOf(i), number, access(i))
		if i == 0 || pl != lastPlace { // samples come in runs of one CPU and level
			lastPlace, lastCode = pl, coder.Code(pl)
		}
		rows.Code[i] = lastCode
	}
	return rows, nil
}

// hostReader returns a function that says the number of a row's host.
func hostReader(of *Topology, t *table.Table) (func(i int) int, error) {
	if of.hosts == nil {
		return func(int) int { return 0 }, nil
	}
	c := t.Column(samples.Host)
	if c == nil || c.Kind != table.Category {
		return nil, fmt.Errorf("table %s has no host column of names: its samples cannot be placed on a cluster", t.Name)
	}
	number := make([]int, len(c.Dict))
	for code, name := range c.Dict {
		number[code] = -1
		if at, known := of.hostNumber[name]; known {
			number[code] = at
		}
	}
	codes, _ := c.Data.([]uint32)
	return func(i int) int {
		if !c.Has(i) {
			return -1
		}
		return number[codes[i]]
	}, nil
}

// accessReader returns a function that says how a row was served.
func accessReader(t *table.Table) (func(i int) Access, error) {
	var levels []Level
	level := t.Column("level")
	if level != nil {
		if level.Kind != table.Category {
			return nil, fmt.Errorf("table %s: the level column has kind %v; want category", t.Name, level.Kind)
		}
		for _, name := range level.Dict {
			l, err := ParseLevel(name)
			if err != nil {
				l = Unknown
			}
			levels = append(levels, l)
		}
	}
	remote, hops, home := t.Column("remote"), t.Column("hops"), t.Column("home")
	return func(i int) Access {
		a := Access{Home: -1}
		if level != nil && level.Has(i) {
			a.Level = levels[level.Data.([]uint32)[i]]
		}
		if remote != nil && remote.Has(i) && remote.Float(i) != 0 {
			a.Level = afar(a.Level)
		}
		if hops != nil && hops.Has(i) {
			a.Hops = Hops(min(max(hops.Float(i), 0), float64(hopsCount-1)))
		}
		if home != nil && home.Has(i) {
			a.Home = int(home.Float(i))
		}
		return a
	}, nil
}

// afar applies a separate remote mark to a level that does not say it.
func afar(l Level) Level {
	switch l {
	case LocalRAM:
		return RemoteRAM
	case L1, L2, L3, L4, LocalPeerCache:
		return RemoteCache
	}
	return l
}
