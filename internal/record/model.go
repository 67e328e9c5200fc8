package record

import (
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/record/model"
)

// model adds estimated levels to the table of samples.
func (c *collector) model(r *run.Run, machine *Machine) error {
	m, err := model.New(machine.Topology)
	if err != nil {
		return err
	}
	t := r.Contents[0]
	found := m.Levels(c.modelSamples(t))
	names := []string{""}
	for _, l := range hw.Levels() {
		names = append(names, l.String())
	}
	codes, has := make([]uint32, len(c.rows)), table.NewBits(len(c.rows))
	next, shares := 0, map[string]int{}
	for i := range c.rows {
		if !c.rows[i].modelled() {
			continue
		}
		if l := found[next]; l != hw.NoLevel {
			codes[i] = uint32(l)
			has.Set(i)
			shares[l.String()]++
		}
		next++
	}
	level := table.Categories(samples.Level, table.Modelled, codes, names, has)
	level.Note = fmt.Sprintf("not measured: what caches of %s would hold of the sampled objects, whatever the order of accesses", machine.Name)
	if r.Contents[0], err = table.New(t.Name, append(slices.Clone(t.Columns()), level)); err != nil {
		return err
	}
	r.Recording.Model = &run.Model{Topology: machine.Name, Method: "least recently used, objects at random by their rate (Che)", Levels: shares}
	r.Warnings = append(r.Warnings, fmt.Sprintf("levels are modelled for %s, not measured: they say what its caches would hold if every object were used at random as often as it was sampled", machine.Name))
	return nil
}

// modelled reports whether a sample is an access whose level a model can say.
func (r *row) modelled() bool { return r.hasAddr && r.way == 0 }

// modelSamples are the rows with an address, as the model wants them.
func (c *collector) modelSamples(t *table.Table) []model.Sample {
	symbol, allocation, home := t.Column("symbol"), t.Column("allocation"), t.Column("touch_cpu")
	type key struct {
		pid                int32
		symbol, allocation string
	}
	numbers := map[key]int{}
	var out []model.Sample
	for i := range c.rows {
		r := &c.rows[i]
		if !r.modelled() {
			continue
		}
		k := key{pid: r.pid}
		if symbol != nil && symbol.Has(i) {
			k.symbol = symbol.Text(i)
		}
		if allocation != nil && allocation.Has(i) {
			k.allocation = allocation.Text(i)
		}
		n, ok := numbers[k]
		if !ok {
			n = len(numbers)
			numbers[k] = n
		}
		s := model.Sample{CPU: int(r.cpu), Object: n, Addr: r.addr, Home: -1}
		if home != nil && home.Has(i) {
			s.Home = int(home.Float(i))
		}
		out = append(out, s)
	}
	return out
}
