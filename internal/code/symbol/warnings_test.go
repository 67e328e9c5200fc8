package symbol

import "testing"

func TestNoLinesIsSaidOnceForAReason(t *testing.T) {
	const why = "it has no debug information"
	tests := []struct {
		name  string
		paths []string
		want  string
	}{
		{"one", []string{"/bin/a"}, "no source lines of /bin/a: " + why},
		{"two", []string{"/b", "/a"}, "no source lines of 2 programs and libraries (/a, /b): " + why},
		{"many", []string{"/e", "/d", "/c", "/b", "/a"}, "no source lines of 5 programs and libraries (/a, /b, /c and 2 more): " + why},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := noLines(tt.paths, why); got != tt.want {
				t.Errorf("noLines(%q) = %q, want %q", tt.paths, got, tt.want)
			}
		})
	}
}
