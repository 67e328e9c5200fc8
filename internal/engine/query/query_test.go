package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
)

// eight is a table of eight rows with every kind of column and missing values.
func eight(t testing.TB) Data {
	t.Helper()
	valid := table.FullBits(8)
	valid.Clear(3)
	tab, err := table.New("samples", []*table.Column{
		{Name: "latency", Kind: table.Number, Data: []int32{10, 200, 300, 0, 50, 200, 1000, 7}, Valid: valid},
		{Name: "level", Kind: table.Category, Data: []uint32{0, 1, 2, 0, 0, 1, 2, 0}, Dict: []string{"L1", "L3", "Local RAM"}, Valid: valid},
		{Name: "cpu", Kind: table.Number, Data: []int32{0, 1, 2, 3, 4, 5, 6, 7}},
		{Name: "addr", Kind: table.Address, Data: []uint64{1 << 63, 1<<63 + 1, 16, 17, 18, 19, 20, ^uint64(0)}},
		{Name: "remote", Kind: table.Flag, Data: []uint8{0, 1, 0, 0, 1, 0, 1, 0}},
		{Name: "time", Kind: table.Time, Unit: "ns", Data: []int64{0, 1500, 3e6, 4e6, 5e6, 6e6, 7e9, 8e9}},
		{Name: "x-1 \"q\"", Kind: table.Number, Data: []float64{-1.5, 0, 1, 2, 3, 4, 5, 6}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return Data{Table: tab, Placing: &Placing{
		Row: []uint32{0, 0, 1, 1, 2, 2, 0, 1}, Count: 3,
		Touching: func(r string) ([]bool, error) {
			if r != "L3:1" {
				return nil, fmt.Errorf("no resource %s", r)
			}
			return []bool{false, true, true}, nil
		},
	}}
}

func TestSelect(t *testing.T) {
	d := eight(t)
	d.RowSets = &RowSets{}
	d.RowSets.FindBy(func(context.Context, string) (table.Bits, error) { return table.Bits{0b1010}, nil })
	tests := []struct {
		where string
		want  []int
	}{
		{"", []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{"latency > 200", []int{2, 6}},
		{"latency >= 200", []int{1, 2, 5, 6}},
		{"latency<10", []int{7}},
		{"latency != 200", []int{0, 2, 4, 6, 7}}, // a missing value satisfies no comparison
		{"!(latency = 200)", []int{0, 2, 3, 4, 6, 7}},
		{"latency = none", []int{3}},
		{"latency != none & cpu <= 1", []int{0, 1}},
		{"latency > 100 & level in (L3, \"Local RAM\") & cpu in 0..5", []int{1, 2, 5}},
		{"cpu in 0..1 | cpu in 6..", []int{0, 1, 6, 7}},
		{"cpu in ..1", []int{0, 1}},
		{"cpu in (1, 3,5)", []int{1, 3, 5}},
		{"level ~ \"^L[0-9]\"", []int{0, 1, 4, 5, 7}},
		{"level ~ RAM", []int{2, 6}},
		{"level = \"No such\"", nil},
		{"remote", []int{1, 4, 6}},
		{"!remote & remote = no", []int{0, 2, 3, 5, 7}},
		{"addr = 0x8000000000000001", []int{1}}, // equal to its neighbour as a float64
		{"addr >= 9223372036854775808", []int{0, 1, 7}},
		{"addr in 16..18", []int{2, 3, 4}},
		{"time > 1.4us & time <= 5ms", []int{1, 2, 3, 4}},
		{"time >= 7s", []int{6, 7}},
		{"latency = 1k", []int{6}},
		{"\"x-1 \\\"q\\\"\" < 0", []int{0}},
		{"at L3:1", []int{2, 3, 4, 5, 7}},
		{"rows late", []int{1, 3}},
		{"cpu = 1 | cpu = 2 & cpu = 3", []int{1}}, // & binds tighter
		{"(cpu = 1 | cpu = 2) && cpu == 2", []int{2}},
	}
	for _, tt := range tests {
		t.Run(tt.where, func(t *testing.T) {
			e, err := Parse(tt.where, d.Table)
			if err != nil {
				t.Fatal(err)
			}
			b, err := SelectRows(context.Background(), d, e)
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Collect(b.All()); !slices.Equal(got, tt.want) {
				t.Errorf("rows %v, want %v", got, tt.want)
			}
			if e != nil {
				roundTrip(t, d.Table, e)
			}
		})
	}
}

// roundTrip checks that the text of an expression parses to one with the same
// text.
func roundTrip(t *testing.T, tab *table.Table, e Expr) {
	t.Helper()
	again, err := Parse(e.String(), tab)
	if err != nil {
		t.Fatalf("text %q of the expression: %v", e, err)
	}
	if diff := cmp.Diff(e.String(), again.String()); diff != "" {
		t.Errorf("text changes when parsed again: %s", diff)
	}
}

func TestParseErrors(t *testing.T) {
	d := eight(t)
	tests := []struct {
		where    string
		position int
		problem  string
	}{
		{"latancy > 3", 0, `did you mean "latency"?`},
		{"cpu = 1 & lvel = L1", 10, `did you mean "level"?`},
		{"qqqqqqqq = 1", 0, "isobath info"},
		{"latency >", 9, "expected a value for latency"},
		{"latency", 0, "expected a comparison"},
		{"latency > L1", 10, `"L1" is not a number`},
		{"level < L3", 6, "has no order"},
		{"level in 0..3", 9, "has no order"},
		{"cpu in 3", 8, "expected .."},
		{"cpu in ..", 9, "at least one end"},
		{"cpu in (1 2)", 10, "expected , or )"},
		{"(cpu = 1", 8, "expected )"},
		{"cpu = 1 cpu = 2", 8, "expected & or |"},
		{"level ~ \"(\"", 8, "missing closing"},
		{"level = \"L1", 8, "closing quote"},
		{"level = 'L1\"", 8, "closing quote"},
		{"cpu = 3x", 6, "unknown unit"},
		{"cpu = #", 6, "unexpected character"},
		{"at", 2, "expected a resource"},
		{strings.Repeat("(", 300) + "cpu=1", 201, "nested more than"},
	}
	for _, tt := range tests {
		t.Run(tt.where, func(t *testing.T) {
			_, err := Parse(tt.where, d.Table)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("Parse gives %v, want a syntax error", err)
			}
			if syntax.Position != tt.position || !strings.Contains(syntax.Problem, tt.problem) {
				t.Errorf("at %d: %s; want at %d: …%s…", syntax.Position, syntax.Problem, tt.position, tt.problem)
			}
		})
	}
}

func TestQuotesOfBothKinds(t *testing.T) {
	d := eight(t)
	for text, want := range map[string]string{
		`level = 'Local RAM'`:            `level = "Local RAM"`,
		`level = 'it\'s "this"'`:         `level = "it's \"this\""`,
		`level = "it's"`:                 `level = "it's"`,
		`'x-1 "q"' > 0 & level = 'a\\b'`: `"x-1 \"q\"" > 0 & level = "a\\b"`,
	} {
		e, err := Parse(text, d.Table)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if e.String() != want {
			t.Errorf("%s is read as %s, want %s", text, e, want)
		}
	}
}

func TestLevelsOfOtherToolsAreSelected(t *testing.T) {
	d := eight(t)
	for text, want := range map[string]string{
		"level = DRAM":            `level = "Local RAM"`,
		"level != llc":            "level != L3",
		"level in (l1, mem, HBM)": `level in (L1, "Local RAM", HBM)`,
	} {
		e, err := Parse(text, d.Table)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if e.String() != want {
			t.Errorf("%s is read as %s, want %s", text, e, want)
		}
	}
}

func TestAbsentNamesAreTold(t *testing.T) {
	tab, err := table.New("samples", []*table.Column{
		{Name: "function", Kind: table.Category, Data: []uint32{0, 1, 2, 3}, Dict: []string{"sweep(int)", "sweep(double*)", "main", "fill"}},
		{Name: "cpu", Kind: table.Number, Data: []int32{0, 1, 2, 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"function = main & cpu = 77":              nil,
		"function ~ nothing":                      nil,
		"!(function = man)":                       {`no row has function "man"; did you mean "main"?`},
		"function = FILL":                         {`no row has function "FILL"; did you mean "fill"?`},
		"function = sweep | function != sweep":    {`no row has function "sweep"; 2 names with it: function ~ "(?i)sweep"`},
		"function in (main, calloc) & cpu = 1":    {`no row has function "calloc"; there are sweep(int), sweep(double*), main, fill`},
		"cpu = 1 | (function = 7 & function = x)": {`no row has function "7"; there are sweep(int), sweep(double*), main, fill`, `no row has function "x"; there are sweep(int), sweep(double*), main, fill`},
	} {
		e, err := Parse(text, tab)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, Absent(e, tab)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// Names come from files and command lines of any encoding and length.
func TestAbsentNamesOfAnyBytes(t *testing.T) {
	tab, err := table.New("samples", []*table.Column{{Name: "function", Kind: table.Category, Data: []uint32{0, 1}, Dict: []string{"caf\xe9(int)", "caf\xe9(double)"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"\xff", "caf\xe9", "", "a[(*", strings.Repeat("x", 60_000)} {
		said := Absent(Compare{"function", Eq, TextValue(name)}, tab)
		if len(said) != 1 || !strings.HasPrefix(said[0], "no row has function ") {
			t.Errorf("%.20q: %.200q", name, said)
		}
		if strings.Contains(said[0], "~") {
			t.Errorf("%.20q: a pattern that cannot be typed: %q", name, said)
		}
	}
}

func TestUnplacedResource(t *testing.T) {
	d := eight(t)
	d.Placing = nil
	_, err := SelectRows(context.Background(), d, At{"L3:1"})
	if err == nil || !strings.Contains(err.Error(), "--topology") {
		t.Errorf("error %v does not say what to do", err)
	}
}

// A regular expression that stands for millions of steps is refused before it is
// made; those that people write are not.
func TestPatternsAreBounded(t *testing.T) {
	for text, want := range map[string]bool{
		"solve": true, "^(a|b)+$": true, "[a-z]{3,20}::.*<[0-9]{1,8}>": true, strings.Repeat("name_", 1000): true, "(ab){200}": true,
		strings.Repeat(".{1000}", 11): false, strings.Repeat("(a{10}){100}", 11): false, strings.Repeat(".{1000}", 3000): false, "(" + strings.Repeat("x", 20_000) + ")": false,
	} {
		_, err := Parse("level ~ \""+text+"\"", eight(t).Table)
		if (err == nil) != want {
			t.Errorf("%.40s: %v", text, err)
		}
		if !want && (err == nil || !strings.Contains(err.Error(), "steps")) {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"latency > 200 & level in (L3, \"Local RAM\") & cpu in 0..10", "at L3:1 | !remote",
		"addr = 0xffffffffffffffff", "time in 1.5ms..2s", "level ~ \"a|b\"", "rows a-b", "cpu=1e9", "latency = none"} {
		f.Add(s)
	}
	d := eight(f)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text, d.Table)
		var syntax *SyntaxError
		if err != nil && !errors.As(err, &syntax) {
			t.Fatalf("not a syntax error: %v", err)
		}
		if err != nil || e == nil {
			return
		}
		roundTrip(t, d.Table, e)
		if b, err := SelectRows(context.Background(), d, e); err == nil && len(b) != 1 {
			t.Fatalf("%d words for 8 rows", len(b))
		}
	})
}

// A name is looked up once for as long as it means the same, few are kept, and
// a new meaning is asked for.
func TestRowSets(t *testing.T) {
	var sets RowSets
	if _, err := sets.Rows(t.Context(), "late"); err == nil {
		t.Error("a name is known although nobody knows names")
	}
	asked := map[string]int{}
	sets.FindBy(func(_ context.Context, name string) (table.Bits, error) {
		asked[name]++
		return table.FullBits(3), nil
	})
	before := sets.Generation()
	for i := range 3 * keepRowSets {
		for range 2 {
			if _, err := sets.Rows(t.Context(), fmt.Sprint("pick ", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if asked["pick 0"] != 1 || len(sets.newest) != keepRowSets {
		t.Errorf("asked %d times for one name, %d sets are kept of %d", asked["pick 0"], len(sets.newest), keepRowSets)
	}
	sets.FindBy(func(context.Context, string) (table.Bits, error) { return table.NewBits(3), nil })
	b, err := sets.Rows(t.Context(), "pick 23")
	if err != nil || b.Count() != 0 || sets.Generation() == before {
		t.Errorf("after the meaning changed: %d rows, generation %d as before %d, %v", b.Count(), sets.Generation(), before, err)
	}
}
