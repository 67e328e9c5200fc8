package vtkhdf

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/hdf5"
)

// Bounds of a collection: deeper and larger ones are not written by anyone.
const (
	maxDepth  = 16
	maxBlocks = 1 << 16
)

func composite(kind string) bool {
	return kind == "PartitionedDataSetCollection" || kind == "MultiBlockDataSet"
}

// block is a data set of a collection: its name, and the group it lies in.
type block struct {
	name, base string
	index      int
}

// collection reads the data sets of a PartitionedDataSetCollection or
// MultiBlockDataSet, each with the time steps it has itself.
func (r *reader) collection(m *grid.Mesh) error {
	blocks, err := r.blocks()
	if err != nil {
		return err
	}
	for _, b := range blocks {
		part, err := at(r.f, b.base, r.step)
		if err != nil {
			return err
		}
		kind, err := part.kind()
		if err == nil && (composite(kind) || kind == "OverlappingAMR") {
			err = fmt.Errorf("%s inside a collection is not read; save it from ParaView in a file of its own", kind)
		}
		first := len(m.Blocks)
		if err == nil {
			err = part.dataSet(m, kind)
		}
		if err != nil {
			return fmt.Errorf("block %s: %w", b.name, err)
		}
		for i := first; i < len(m.Blocks); i++ {
			m.Blocks[i].Name = b.name
		}
	}
	if len(m.Blocks) == 0 {
		return errors.New("the collection has no block with data")
	}
	return nil
}

// blocks lists the data sets of a collection in its order; none where the file
// is something else.
func (r *reader) blocks() ([]block, error) {
	kind, err := r.kind()
	if err != nil || !composite(kind) {
		return nil, nil // a file without a type is refused when it is read
	}
	if kind == "MultiBlockDataSet" {
		assembly, err := r.f.Lookup(path.Join(r.base, "Assembly"))
		if err != nil {
			return nil, err
		}
		var t tree
		err = t.walk(assembly, "", 0)
		return t.list, err
	}
	links, err := r.root.Links()
	if err != nil {
		return nil, err
	}
	var list []block
	for _, l := range links {
		if l.Name == "Assembly" {
			continue
		}
		o, err := r.root.Child(l)
		if err != nil {
			return nil, err
		}
		index, err := attrInt(o, "Index")
		if err != nil {
			return nil, fmt.Errorf("block %s: %w", l.Name, err)
		}
		list = append(list, block{l.Name, o.Path, index})
	}
	if len(list) > maxBlocks {
		return nil, fmt.Errorf("%d blocks; at most %d are supported", len(list), maxBlocks)
	}
	slices.SortStableFunc(list, func(a, b block) int { return a.index - b.index })
	return list, nil
}

// tree walks the hierarchy of a MultiBlockDataSet in the order in which it was
// written: leaves are links to data sets, which have a type.
type tree struct {
	list []block
	seen int // links followed; groups may hold each other
}

func (t *tree) walk(o *hdf5.Object, name string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%s: blocks lie more than %d deep in each other", o.Path, maxDepth)
	}
	links, err := o.Links()
	if err != nil {
		return err
	}
	slices.SortStableFunc(links, func(a, b hdf5.Link) int { return cmp.Compare(a.Order, b.Order) })
	for _, l := range links {
		if t.seen++; t.seen > maxBlocks {
			return fmt.Errorf("more than %d blocks", maxBlocks)
		}
		child, err := o.Child(l)
		if err != nil {
			return err
		}
		full := path.Join(name, l.Name)
		if _, err := child.Attr("Type"); err == nil {
			t.list = append(t.list, block{name: full, base: child.Path})
		} else if err := t.walk(child, full, depth+1); err != nil {
			return err
		}
	}
	return nil
}
