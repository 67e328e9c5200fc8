package pmu

import (
	"errors"
	"io/fs"
)

// ErrNoUnit is returned where no unit samples memory accesses.
var ErrNoUnit = errors.New("no PEBS, IBS or SPE unit is visible, as usual in virtual machines")

// Hardware returns the plans that the machine whose root folder is given can
// try.
func Hardware(root fs.FS, o *Options) ([]Plan, error) { return nil, ErrNoUnit }
