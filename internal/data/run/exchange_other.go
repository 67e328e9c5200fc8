//go:build !linux

package run

import "os"

// exchange puts a in the place of b. Between the two renames b has no run:
// these systems have no exchange in one step.
func exchange(a, b string) error {
	old := a + ".old"
	if err := os.Rename(b, old); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return err
	}
	return os.Rename(old, a)
}
