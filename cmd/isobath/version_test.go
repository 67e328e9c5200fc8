package main

import (
	"runtime/debug"
	"testing"
)

// TestBuiltFrom holds what is said of a program from what Go and the linker know of
// its source.
func TestBuiltFrom(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Key: "vcs.time", Value: "2026-11-17T12:00:00Z"},
		{Key: "vcs.modified", Value: "true"},
	}}
	for name, c := range map[string]struct {
		info                     *debug.BuildInfo
		linked                   [2]string
		revision, date, sentence string
		modified                 bool
	}{
		"a repository":          {info, [2]string{}, info.Settings[0].Value, info.Settings[1].Value, "devel (0123456789ab) ", true},
		"no repository":         {&debug.BuildInfo{}, [2]string{}, "unknown", "unknown", "devel go", false},
		"nothing about a build": {nil, [2]string{}, "unknown", "unknown", "devel go", false},
		"a release":             {&debug.BuildInfo{}, [2]string{"fedcba9876543210", "2026-01-02T03:04:05Z"}, "fedcba9876543210", "2026-01-02T03:04:05Z", "devel (fedcba987654) ", false},
	} {
		revision, date = c.linked[0], c.linked[1]
		b := builtFrom(c.info)
		if b.Revision != c.revision || b.Date != c.date || b.Modified != c.modified || len(b.version()) < len(c.sentence) || b.version()[:len(c.sentence)] != c.sentence {
			t.Errorf("%s: %+v, %s", name, b, b.version())
		}
	}
	revision, date = "", ""
}
