//go:build !linux

package record

import (
	"errors"
	"os"
)

// reservePlace is of Linux, where programs are recorded.
func reservePlace(*os.File, int64, int64) error { return errors.ErrUnsupported }

// giveBack is of Linux too.
func giveBack(*os.File, int64) error { return errors.ErrUnsupported }

// firstKept is the beginning: nothing was given back.
func firstKept(*os.File) int64 { return 0 }
