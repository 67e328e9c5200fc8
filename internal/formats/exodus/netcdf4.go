package exodus

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/hdf5"
)

// modern is a netCDF-4 file: HDF5 with a dataset for each variable.
type modern struct{ f *hdf5.File }

func (m modern) close() error { return m.f.Close() }

// dim returns the length of a dimension, which netCDF-4 stores as a dataset.
func (m modern) dim(name string) (int, bool) {
	o, err := m.f.Lookup(name)
	if err != nil {
		return 0, false
	}
	shape, err := o.Shape()
	if err != nil || len(shape) == 0 {
		return 0, false
	}
	return shape[0], true
}

func (m modern) has(name string) bool {
	_, err := m.f.Lookup(name)
	return err == nil
}

func (m modern) attr(name, attr string) string {
	o, err := m.f.Lookup(name)
	if err != nil {
		return ""
	}
	v, err := o.Attr(attr)
	if err != nil {
		return ""
	}
	return v.Text()
}

func (m modern) numbers(name string, step int) (any, error) {
	o, err := m.f.Lookup(name)
	if err != nil {
		return nil, err
	}
	v, err := o.Read()
	if err != nil {
		return nil, err
	}
	if step >= 0 {
		if v, err = v.Row(step); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	data, _, err := v.Numbers()
	return data, err
}

func (m modern) records(name string) ([]float64, error) {
	v, err := m.numbers(name, -1)
	if err != nil {
		return nil, err
	}
	return (&grid.Array{Comps: 1, Data: v}).Floats(), nil
}

func (m modern) texts(name string) []string {
	o, err := m.f.Lookup(name)
	if err != nil {
		return nil
	}
	v, err := o.Read()
	if err != nil || len(v.Dims) < 2 || v.Type.Class != hdf5.String {
		return nil
	}
	return rows(v.Bytes(), v.Dims[len(v.Dims)-1])
}
