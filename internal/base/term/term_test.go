package term

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNumbers(t *testing.T) {
	tests := []struct{ got, want string }{
		{Thousands(0), "0"}, {Thousands(999), "999"}, {Thousands(15676), "15 676"}, {Thousands(-1022618), "-1 022 618"},
		{Short(0), "0"}, {Short(587000), "587 k"}, {Short(28240), "28.2 k"}, {Short(2600), "2.60 k"},
		{Short(1022618), "1.02 M"}, {Short(999.9), "1.00 k"}, {Short(65.23), "65.2"}, {Short(12), "12"}, {Short(0.5), "0.50"},
		{Percent(0.364), "36.4 %"}, {Bar(0.5, 4), "██"}, {Bar(1.0/32, 4), "▏"}, {Bar(2, 2), "██"},
		{Bytes(0), "0 B"}, {Bytes(1310720), "1.25 MiB"}, {Bytes(215962), "210.9 KiB"}, {Bytes(32768), "32 KiB"}, {Bytes(64000000), "61.0 MiB"}, {Bytes(1536), "1.5 KiB"}, {Bytes(1023), "1023 B"},
		{Duration(999), "999 ns"}, {Duration(1250000), "1.25 ms"}, {Duration(-36 * 1e9), "-36.0 s"}, {Change(-0.125), "−12.5 %"}, {Change(0.05), "+5.0 %"},
		{Clip("short", 10), "short"}, {Clip("/very/long/path/file.c", 12), "/ve…h/file.c"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}

func TestTable(t *testing.T) {
	tab := Table{Columns: []Column{{Head: "name", Give: true}, {Head: "n", Align: Right}}}
	tab.Row("a very long name indeed, longer than all", "1")
	tab.Row("b", "12 345")
	var b strings.Builder
	if err := tab.Write(&b, 24); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 24 {
			t.Errorf("%d characters: %q", n, line)
		}
	}
	if diff := cmp.Diff("name                   n\na ver…r than all       1\nb                 12 345\n", b.String()); diff != "" {
		t.Error(diff)
	}
}

func TestThousandsOfTheLargest(t *testing.T) {
	if got := Thousands(uint64(math.MaxUint64)); got != "18 446 744 073 709 551 615" {
		t.Errorf("Thousands(2^64-1) = %q", got)
	}
	if got := Thousands(int64(math.MinInt64)); got != "-9 223 372 036 854 775 808" {
		t.Errorf("Thousands(-2^63) = %q", got)
	}
}

func TestClipEnd(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"äöüß", 3, "äö…"}, {"", 3, ""}, {"ab", 1, "…"}} {
		if got := ClipEnd(tt.text, tt.width); got != tt.want {
			t.Errorf("ClipEnd(%q, %d) = %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

// The ends of a range have one factor and one number of decimals, which tell them apart.
func TestSpan(t *testing.T) {
	for _, tt := range []struct {
		from, to float64
		want     string
	}{
		{0.002773, 5.114, "0.00 to 5.11"},
		{0, 8, "0 to 8"},
		{0, 8.5, "0.00 to 8.50"},
		{12.34, 123.4, "12 to 123"},
		{99.5, 1234, "0.10 to 1.23 k"},
		{1000, 2000, "1 to 2 k"},
		{1023456, 1045678, "1.023 to 1.046 M"},
		{5.1134, 5.1139, "5.11340 to 5.11390"},
		{-5.5, -0.001, "-5.50 to 0.00"},
		{0.00012, 0.00034, "0.000120 to 0.000340"},
		{7.5, 7.5, "7.50 to 7.50"},
	} {
		if got := Span(tt.from, tt.to); got != tt.want {
			t.Errorf("Span(%v, %v) = %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}
