package logical

import (
	"bufio"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/trace"
)

func openShared(t testing.TB, name string) *trace.Trace {
	t.Helper()
	tr, err := trace.Open(context.Background(), test.Shared(t, "otf2/"+name))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func analyze(t testing.TB, tr *trace.Trace, o Options) *Structure {
	t.Helper()
	s, err := Analyze(context.Background(), tr, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ravelRow is one operation as Ravel computed it; columns 5 to 12 of its file.
type ravelRow struct {
	name   string
	values [8]int64 // partition, step, L, D, DA, G, DG, DGA; -1 where empty
}

type opKey struct {
	location    uint64
	enter, exit int64
}

func readRavel(t *testing.T, path string) map[opKey]ravelRow {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := map[opKey]ravelRow{}
	in := bufio.NewScanner(f)
	for in.Scan() {
		c := strings.Split(in.Text(), "\t")
		num := func(i int) int64 {
			if c[i] == "" {
				return -1
			}
			v, err := strconv.ParseInt(c[i], 10, 64)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			return v
		}
		r := ravelRow{name: c[3]}
		for i := range r.values {
			r.values[i] = num(4 + i)
		}
		rows[opKey{uint64(num(0)), num(1), num(2)}] = r
	}
	return rows
}

// TestEqualsRavel: where Ravel follows its paper, partitions, steps and all
// metrics are the same for every operation.
func TestEqualsRavel(t *testing.T) {
	for _, name := range []string{"binomial16_", "ring16_", "dissem16_coalesce", "dissem16_coalesce_leap", "halo16_", "halo16_coalesce",
		"halo16_skew_coalesce", "lulesh8_coalesce", "lulesh8_coalesce_leap", "mergetree64_", "mg16_", "mg16_leap"} {
		t.Run(name, func(t *testing.T) {
			rows := readRavel(t, test.Fixture(t, "otf2/ravel-steps/"+name+".tsv"))
			base := name[:strings.LastIndex(strings.TrimSuffix(strings.TrimSuffix(name, "_leap"), "_coalesce")+"_", "_")]
			base = strings.TrimSuffix(base, "_")
			s := analyze(t, openShared(t, base), Options{
				Coalesce: strings.Contains(name, "coalesce"), Leaps: strings.Contains(name, "leap"), Force: true, Waitall: true, Ratio: DefaultRatio})
			if s.Len() != len(rows) {
				t.Fatalf("%d operations, Ravel has %d", s.Len(), len(rows))
			}
			ours, theirs := map[int32]int64{}, map[int64]int32{}
			for i := range int32(s.Len()) {
				key := opKey{s.Trace.Procs[s.Proc[i]].Location, s.Enter[i], s.Exit[i]}
				r, ok := rows[key]
				if !ok {
					t.Fatalf("Ravel has no operation %v", key)
				}
				got := [8]int64{r.values[0], 2 * int64(s.Step[i]), s.Late[i], s.Diff[i], s.AggDiff[i], s.GlobalLate[i], s.GlobalDiff[i], s.GlobalAggDiff[i]}
				if got != r.values {
					t.Fatalf("%s on %d at %d: got %v, want %v (partition, step, L, D, DA, G, DG, DGA)", s.Name(i), key.location, key.enter, got, r.values)
				}
				if q, ok := ours[s.Part[i]]; ok && q != r.values[0] {
					t.Fatalf("our partition %d is Ravel's %d and %d", s.Part[i], q, r.values[0])
				}
				if q, ok := theirs[r.values[0]]; ok && q != s.Part[i] {
					t.Fatalf("Ravel's partition %d is our %d and %d", r.values[0], q, s.Part[i])
				}
				ours[s.Part[i]], theirs[r.values[0]] = r.values[0], s.Part[i]
			}
			t.Logf("%d operations, %d partitions, %d steps", s.Len(), s.Parts.Count(), s.Steps)
		})
	}
}
