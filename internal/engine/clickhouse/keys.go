package clickhouse

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/table"
)

// groupKeys is how rows are told apart by the values of columns.
type groupKeys struct {
	forms   []*columnForm
	columns []string // SQL
	by      []string // of GROUP BY
	// sizes says that one number of two bytes tells all values apart, and how many of
	// each column it has room for.
	sizes []int
}

// groupKeys takes one small number for all columns where their values are few, and
// else, for each column, its value and whether a row has one.
func (e *Engine) groupKeys(forms []*columnForm) *groupKeys {
	k := &groupKeys{forms: forms}
	if k.small(e) {
		return k
	}
	for i, f := range forms {
		key, has := fmt.Sprintf("k%d", i), fmt.Sprintf("h%d", i)
		k.columns = append(k.columns, valueOrZero(f)+" AS "+key, "toUInt8("+f.present()+") AS "+has)
		k.by = append(k.by, key)
		if f.Holes { // otherwise it is the same for all rows, and two keys are grouped slower than one
			k.by = append(k.by, has)
		}
	}
	return k
}

// small takes one number for all columns, if two bytes suffice.
func (k *groupKeys) small(e *Engine) bool {
	if len(k.forms) == 0 {
		return false
	}
	var sizes []int
	key, keys := "", 1
	for _, f := range k.forms {
		most, known := e.largestCode(f)
		if !known || (most+2)*keys > smallKeys {
			return false
		}
		size, value := most+1, f.column()
		if f.Holes { // 0 is for rows without a value
			size, value = size+1, fmt.Sprintf("if(%s, %s + 1, 0)", f.present(), value)
		}
		keys, sizes = keys*size, append(sizes, size)
		if key != "" {
			value = fmt.Sprintf("toUInt32(%s) * %d + %s", key, size, value)
		}
		key = value
	}
	k.columns, k.by, k.sizes = []string{"toUInt16(" + key + ") AS k0"}, []string{"k0"}, sizes
	return true
}

// largestCode is the largest value of a column whose values are small whole numbers or
// names.
func (e *Engine) largestCode(f *columnForm) (int, bool) {
	switch f.Type {
	case "category":
		return max(len(e.data.Table.Column(f.Name).Dict)-1, 0), true
	case "int32", "int64", "flag":
		lo, hi, any := e.described[f.number].Division.Finite()
		if any && lo >= 0 && hi < smallKeys {
			return int(hi), true
		}
	}
	return 0, false
}

// keysOf makes columns of the keys of groups, whose rows are the groups.
func (e *Engine) keysOf(k *groupKeys, b *block) ([]*table.Column, error) {
	out := make([]*table.Column, len(k.forms))
	if k.sizes == nil || b.rows == 0 {
		for i, f := range k.forms {
			var err error
			if out[i], err = e.keyColumn(f, b, 2*i); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	keys := b.columns[0].numbersOf()
	below := 1 // how many keys the columns behind have
	for i := len(k.forms) - 1; i >= 0; i-- {
		f, values, has := k.forms[i], make([]uint64, b.rows), make([]uint8, b.rows)
		for row, key := range keys {
			v := key / uint64(below) % uint64(k.sizes[i])
			if !f.Holes {
				values[row], has[row] = v, 1
			} else if v > 0 {
				values[row], has[row] = v-1, 1
			}
		}
		below *= k.sizes[i]
		data, err := narrowed(values, f.Type)
		if err != nil {
			return nil, err
		}
		if out[i], err = e.keyColumn(f, &block{rows: b.rows, columns: []column{{data: data}, {data: has}}}, 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// narrowed is small numbers in the type that a column has.
func narrowed(values []uint64, kind string) (any, error) {
	switch kind {
	case "int32":
		return narrowedTo[int32](values), nil
	case "int64":
		return narrowedTo[int64](values), nil
	case "category":
		return narrowedTo[uint32](values), nil
	case "flag":
		return narrowedTo[uint8](values), nil
	}
	return nil, fmt.Errorf("values of type %q", kind)
}

func narrowedTo[T int32 | int64 | uint32 | uint8](values []uint64) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = T(v)
	}
	return out
}

// keyColumn makes a column of the keys of groups, whose rows are the groups.
func (e *Engine) keyColumn(f *columnForm, b *block, at int) (*table.Column, error) {
	about := *e.data.Table.Column(f.Name)
	about.Summary = nil
	if b.rows == 0 {
		return &about, nil
	}
	about.Data = b.columns[at].data
	has := texts[uint8](b, at+1)
	about.Valid = table.NewBits(b.rows)
	for i, h := range has {
		if h != 0 {
			about.Valid.Set(i)
		}
	}
	_, err := table.New("groups", []*table.Column{&about})
	return &about, err
}
