package grid

import (
	"fmt"
	"math"
	"reflect"
)

// Array is a named list of tuples of one element type, as a file holds it.
type Array struct {
	Name  string
	Comps int // values per tuple, at least 1
	// Data is one of []int8, []uint8, []int16, []uint16, []int32, []uint32,
	// []int64, []uint64, []float32, []float64 or []string: the type the file
	// has, so that no number changes between the file and the user.
	Data any
}

// Number is every element type an Array of numbers can have.
type Number interface {
	int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64
}

// Len returns the number of tuples.
func (a *Array) Len() int {
	if a.Comps <= 0 {
		return 0
	}
	return a.Values() / a.Comps
}

// Values returns the number of values: tuples times components.
func (a *Array) Values() int {
	if a.Data == nil {
		return 0
	}
	return reflect.ValueOf(a.Data).Len()
}

// At returns value i, counted over all components, as a float64; NaN when the
// array holds text.
func (a *Array) At(i int) float64 {
	switch d := a.Data.(type) {
	case []int8:
		return float64(d[i])
	case []uint8:
		return float64(d[i])
	case []int16:
		return float64(d[i])
	case []uint16:
		return float64(d[i])
	case []int32:
		return float64(d[i])
	case []uint32:
		return float64(d[i])
	case []int64:
		return float64(d[i])
	case []uint64:
		return float64(d[i])
	case []float32:
		return float64(d[i])
	case []float64:
		return d[i]
	}
	return math.NaN()
}

// Text reports whether the array holds strings.
func (a *Array) Text() bool { _, ok := a.Data.([]string); return ok }

// DType returns the element type in NumPy's spelling, little-endian, or ""
// when the array holds text.
func (a *Array) DType() string {
	switch a.Data.(type) {
	case []int8:
		return "|i1"
	case []uint8:
		return "|u1"
	case []int16:
		return "<i2"
	case []uint16:
		return "<u2"
	case []int32:
		return "<i4"
	case []uint32:
		return "<u4"
	case []int64:
		return "<i8"
	case []uint64:
		return "<u8"
	case []float32:
		return "<f4"
	case []float64:
		return "<f8"
	}
	return ""
}

// Floats returns the values as float64; the result aliases the array when it
// holds float64 already.
func (a *Array) Floats() []float64 {
	switch d := a.Data.(type) {
	case []float64:
		return d
	case []float32:
		return convert[float64](d)
	}
	out := make([]float64, a.Values())
	for i := range out {
		out[i] = a.At(i)
	}
	return out
}

// Int64s returns the values as int64, or an error when one is not a whole
// number that fits.
func (a *Array) Int64s() ([]int64, error) {
	switch d := a.Data.(type) {
	case []int64:
		return d, nil
	case []int32:
		return convert[int64](d), nil
	case []uint8:
		return convert[int64](d), nil
	case []uint64:
		for _, v := range d {
			if v > math.MaxInt64 {
				return nil, fmt.Errorf("array %q: %d does not fit a signed 64-bit integer", a.Name, v)
			}
		}
		return convert[int64](d), nil
	}
	out := make([]int64, a.Values())
	for i := range out {
		v := a.At(i)
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return nil, fmt.Errorf("array %q: value %g at %d is not a whole number", a.Name, v, i)
		}
		out[i] = int64(v)
	}
	return out, nil
}

func convert[T, F Number](in []F) []T {
	out := make([]T, len(in))
	for i, v := range in {
		out[i] = T(v)
	}
	return out
}

// Range returns the smallest and largest value that is a number; ok is false
// when there is none.
func (a *Array) Range() (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for i, n := 0, a.Values(); i < n; i++ {
		v := a.At(i)
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
	}
	return lo, hi, lo <= hi
}

// Find returns the array of that name, or nil.
func Find(list []Array, name string) *Array {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}

// concatArrays returns the tuples of a, then those of b. Both must have the same
// element type and number of components.
func concatArrays(a, b Array) (Array, error) {
	if err := alike(&a, &b); err != nil {
		return a, err
	}
	both := reflect.MakeSlice(reflect.TypeOf(a.Data), 0, a.Values()+b.Values())
	both = reflect.AppendSlice(both, reflect.ValueOf(a.Data))
	a.Data = reflect.AppendSlice(both, reflect.ValueOf(b.Data)).Interface()
	return a, nil
}

func alike(a, b *Array) error {
	if a.Comps != b.Comps {
		return fmt.Errorf("array %q has %d components in one piece and %d in another", a.Name, a.Comps, b.Comps)
	}
	if reflect.TypeOf(a.Data) != reflect.TypeOf(b.Data) || a.Data == nil {
		return fmt.Errorf("array %q has type %s in one piece and %s in another", a.Name, a.DType(), b.DType())
	}
	return nil
}

// Like returns an array of n zero tuples with a's name and type.
func (a *Array) Like(n int) Array {
	return Array{a.Name, a.Comps, reflect.MakeSlice(reflect.TypeOf(a.Data), n*a.Comps, n*a.Comps).Interface()}
}

// CopyTuples copies n tuples of src from tuple si to dst from tuple di.
func CopyTuples(dst *Array, di int, src *Array, si, n int) error {
	if err := alike(dst, src); err != nil {
		return err
	}
	c := dst.Comps
	reflect.Copy(reflect.ValueOf(dst.Data).Slice(di*c, (di+n)*c), reflect.ValueOf(src.Data).Slice(si*c, (si+n)*c))
	return nil
}

// Gather returns the tuples of a in the given order.
func (a *Array) Gather(order []int) Array {
	out := a.Like(len(order))
	for i, from := range order {
		_ = CopyTuples(&out, i, a, from, 1) // same type by construction
	}
	return out
}
