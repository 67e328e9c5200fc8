package mitos

import (
	"strings"
	"testing"
)

// Every IBS field of every known header has a name and a meaning, and no name
// stands for two fields of one file.
func TestEveryIBSFieldIsDescribed(t *testing.T) {
	for _, columns := range []string{opColumns, fetchColumns} {
		seen := map[string]string{}
		for name := range strings.SplitSeq(columns, ",") {
			d, ok := ibsFields[name]
			if !ok || d.label == "" || d.note == "" {
				t.Errorf("%s has no description", name)
			}
			if other := seen[d.label]; other != "" {
				t.Errorf("%s and %s are both called %q", other, name, d.label)
			}
			seen[d.label] = name
		}
	}
}
