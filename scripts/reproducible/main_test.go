package main

import "testing"

// Two builds in two folders are equal. 'make reproducible' does it with empty caches.
func TestBuildsAreEqual(t *testing.T) {
	if testing.Short() {
		t.Skip("links the program twice")
	}
	sum, err := compare("../..", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("sha256 %x", sum)
}
