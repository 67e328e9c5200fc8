package test

import (
	"os"
	"testing"
)

// NoRaces skips a test under the race detector, which would find nothing there for
// ten times the time: why says what watches the goroutines behind it. make races
// runs it all the same.
func NoRaces(t testing.TB, why string) {
	t.Helper()
	if raceDetector && os.Getenv("ISOBATH_RACES") != "all" {
		t.Skip("nothing for the race detector: " + why)
	}
}
