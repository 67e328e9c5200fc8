package symbol

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestNoLinesIsSaidOnceForAReason(t *testing.T) {
	const why = "it has no debug information"
	tests := []struct {
		name     string
		paths    []string
		packages []string
		servers  bool
		want     string
	}{
		{"one", []string{"/bin/a"}, nil, false, "no source lines of /bin/a: " + why},
		{"two", []string{"/b", "/a"}, nil, false, "no source lines of 2 programs and libraries (/a, /b): " + why},
		{"many", []string{"/e", "/d", "/c", "/b", "/a"}, nil, false, "no source lines of 5 programs and libraries (/a, /b, /c and 2 more): " + why},
		{"of the distribution", []string{"/bin/a"}, []string{"a-dbgsym"}, false, "no source lines of /bin/a: " + why + "; those of the distribution have it in a-dbgsym"},
		{"of servers that were named", []string{"/b", "/a"}, nil, true, "no source lines of 2 programs and libraries (/a, /b): " + why + "; 'debuginfod-find debuginfo /a' asks the servers of DEBUGINFOD_URLS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := noLines(tt.paths, why, tt.packages, tt.servers); got != tt.want {
				t.Errorf("noLines(%q) = %q, want %q", tt.paths, got, tt.want)
			}
		})
	}
}

// Which package has the debug information of a file is what the distribution's own
// lists say; a user's programs are in none.
func TestDebugPackages(t *testing.T) {
	lists := t.TempDir()
	for name, text := range map[string]string{
		"libc6:amd64.list":    "/.\n/lib\n/lib/x86_64-linux-gnu/libc.so.6\n",
		"libgomp1:amd64.list": "/usr/lib/x86_64-linux-gnu/libgomp.so.1.0.0\n",
		"coreutils.list":      "/bin/sort\n/usr/bin/nice\n",
		"coreutils.conffiles": "/usr/bin/odd\n",
		"mine.list":           "/home/me/app\n",
	} {
		if err := os.WriteFile(filepath.Join(lists, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ paths, want []string }{
		{[]string{"/usr/lib/x86_64-linux-gnu/libc.so.6"}, []string{"libc6-dbg"}},
		{[]string{"/usr/bin/sort", "/bin/nice", "/lib/x86_64-linux-gnu/libgomp.so.1.0.0", "/home/me/app"}, []string{"coreutils-dbgsym", "libgomp1-dbgsym"}},
		{[]string{"/home/me/app", "/usr/bin/odd", "/lib"}, nil},
		{nil, nil},
	} {
		if got := debugPackages(lists, tt.paths); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.paths, got, tt.want)
		}
	}
	if got := debugPackages(filepath.Join(lists, "none"), []string{"/bin/sort"}); got != nil {
		t.Errorf("%v where there are no lists", got)
	}
}
