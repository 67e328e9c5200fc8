package logical

import (
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/trace"
)

// top returns the operation with the largest value that is not the first of
// its process: the first ones hold the start-up skew.
func top(s *Structure, col []int64) int32 {
	best := trace.None
	for i := range int32(s.Len()) {
		if i > s.Start[s.Proc[i]] && (best < 0 || col[i] > col[best]) {
			best = i
		}
	}
	return best
}

func with(change func(*Options)) Options {
	o := Default()
	change(&o)
	return o
}

// TestKnownStructures: programs whose structure follows from their text, and
// the place and size of the delay that was put into them.
func TestKnownStructures(t *testing.T) {
	plain := with(func(o *Options) { o.Coalesce = false })
	tests := []struct {
		name              string
		o                 Options
		partitions, steps int
		rank, step        int32 // top global differential aggregate lateness
		call              string
		value             int64
	}{
		{"binomial16", Default(), 32, 18, 11, 1, "MPI_Send", 3064801},
		{"ring16", Default(), 17, 32, 11, 1, "MPI_Isend", 3100821},
		{"dissem16", Default(), 17, 10, 11, 1, "MPI_Isend", 3072676},
		{"halo16", Default(), 20, 30, 5, 17, "MPI_Allreduce", 5036975},
		{"halo16", plain, 20, 60, 5, 35, "MPI_Allreduce", 5036975},
		{"halo16_skew", Default(), 10, 15, 5, 8, "MPI_Allreduce", 6702017},
		{"halo64_big", Default(), 600, 900, 20, 452, "MPI_Allreduce", 3933818},
		{"halo64_big", plain, 600, 1800, -1, 0, "", 0},
		{"commtag8", Default(), 8, 6, -1, 0, "", 0},
		{"commtag8", plain, 8, 7, -1, 0, "", 0},
		{"lulesh8", Default(), 82, 429, -1, 0, "", 0},
		{"lulesh8", plain, 82, 615, -1, 0, "", 0},
		{"mg16", Default(), 1522, 1010, 13, 983, "MPI_Send", 58277712},
		{"mergetree64", Default(), 184, 100, -1, 0, "", 0},
		{"amg8", Default(), 595, 1304, -1, 0, "", 0},
		{"lu8", Default(), 11320, 9580, -1, 0, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := analyze(t, openShared(t, tt.name), tt.o)
			if s.Parts.Count() != tt.partitions || s.Steps != tt.steps {
				t.Errorf("%d partitions, %d steps; want %d, %d", s.Parts.Count(), s.Steps, tt.partitions, tt.steps)
			}
			if tt.rank < 0 {
				return
			}
			i := top(s, s.GlobalAggDiff)
			if s.Proc[i] != tt.rank || s.Step[i] != tt.step || s.Name(i) != tt.call || s.GlobalAggDiff[i] != tt.value {
				t.Errorf("top delay: rank %d, step %d, %s, %d ns; want rank %d, step %d, %s, %d ns",
					s.Proc[i], s.Step[i], s.Name(i), s.GlobalAggDiff[i], tt.rank, tt.step, tt.call, tt.value)
			}
		})
	}
}

// TestMerges: partitions and steps after each optional merge.
func TestMerges(t *testing.T) {
	leaps := with(func(o *Options) { o.Leaps = true })
	across := with(func(o *Options) { o.MergeGlobal = true })
	calls := with(func(o *Options) { o.Calls = true })
	tests := []struct {
		name              string
		option            string
		o                 Options
		partitions, steps int
	}{
		{"binomial16", "leaps", leaps, 11, 18},
		{"ring16", "leaps", leaps, 17, 32},
		{"dissem16", "leaps", leaps, 17, 10},
		{"halo16", "leaps", leaps, 20, 30},
		{"lulesh8", "leaps", leaps, 82, 429},
		{"mg16", "leaps", leaps, 1387, 1010},
		{"mergetree64", "leaps", leaps, 3, 61},
		{"amg8", "leaps", leaps, 417, 1230},
		{"binomial16", "across", across, 10, 18},
		{"ring16", "across", across, 17, 32},
		{"dissem16", "across", across, 6, 10},
		{"halo16", "across", across, 20, 30},
		{"lulesh8", "across", across, 82, 429},
		{"mg16", "across", across, 329, 1010},
		{"mergetree64", "across", across, 51, 100},
		{"amg8", "across", across, 568, 1304},
		{"lu8", "across", across, 4801, 9580},
		{"binomial16", "calls", calls, 32, 18},
		{"halo16", "calls", calls, 20, 30},
		{"mg16", "calls", calls, 1522, 1010},
		{"lulesh8", "calls", calls, 82, 429},
	}
	for _, tt := range tests {
		t.Run(tt.name+" "+tt.option, func(t *testing.T) {
			s := analyze(t, openShared(t, tt.name), tt.o)
			if s.Parts.Count() != tt.partitions || s.Steps != tt.steps {
				t.Errorf("%d partitions, %d steps; want %d, %d", s.Parts.Count(), s.Steps, tt.partitions, tt.steps)
			}
			if tt.option == "across" && !slices.Equal(s.Late, s.GlobalLate) {
				t.Error("lateness differs from global lateness after merging across steps")
			}
		})
	}
}

// TestReorder: in mergetree64 the first leader receives from faster groups
// before its own. In the idealised order its reply stands where those of the
// other leaders do.
func TestReorder(t *testing.T) {
	tr := openShared(t, "mergetree64")
	tests := []struct {
		reorder             bool
		steps               int
		firstLeader, others int32
	}{{false, 61, 29, 9}, {true, 47, 9, 9}}
	for _, tt := range tests {
		s := analyze(t, tr, with(func(o *Options) { o.Leaps, o.Reorder = true, tt.reorder }))
		if s.Steps != tt.steps {
			t.Errorf("reorder %v: %d steps, want %d", tt.reorder, s.Steps, tt.steps)
		}
		for leader := int32(0); leader < 64; leader += 8 {
			want := tt.others
			if leader == 0 {
				want = tt.firstLeader
			}
			for i := s.Start[leader]; i < s.Start[leader+1]; i++ {
				if s.Kind[i] == trace.Send {
					if s.Step[i] != want {
						t.Errorf("reorder %v: leader %d replies at step %d, want %d", tt.reorder, leader, s.Step[i], want)
					}
					break
				}
			}
		}
	}
}

// TestRavelDiffersOnOverlap lists where and why amg8 differs from Ravel. Two
// exchanges overlap there (Isend A, Isend B, Waitall A, Waitall B); Ravel
// looks only at the first and last operation of a partition, leaves A and B
// apart although each precedes the other, and so breaks happened before.
func TestRavelDiffersOnOverlap(t *testing.T) {
	rows := readRavel(t, test.Fixture(t, "otf2/ravel-steps/amg8_coalesce.tsv"))
	s := analyze(t, openShared(t, "amg8"), Default())
	if s.Len() != len(rows) {
		t.Fatalf("%d operations, Ravel has %d", s.Len(), len(rows))
	}
	theirs := map[int32]map[int64]bool{}
	ours := map[int64]map[int32]bool{}
	rowOf := make([]ravelRow, s.Len())
	for i := range int32(s.Len()) {
		r := rows[opKey{s.Trace.Procs[s.Proc[i]].Location, s.Enter[i], s.Exit[i]}]
		rowOf[i] = r
		if theirs[s.Part[i]] == nil {
			theirs[s.Part[i]] = map[int64]bool{}
		}
		if ours[r.values[0]] == nil {
			ours[r.values[0]] = map[int32]bool{}
		}
		theirs[s.Part[i]][r.values[0]] = true
		ours[r.values[0]][s.Part[i]] = true
	}
	var split []int32 // our partitions that Ravel tears apart
	torn := 0
	for q := range int32(s.Parts.Count()) {
		if len(theirs[q]) > 1 {
			split = append(split, q)
			torn += len(theirs[q])
		}
	}
	for r, q := range ours {
		if len(q) != 1 {
			t.Errorf("Ravel's partition %d is spread over %d of ours", r, len(q))
		}
	}
	if len(split) != 3 || torn != 30 {
		t.Fatalf("%d partitions differ and correspond to %d of Ravel's; want 3 and 30", len(split), torn)
	}
	for k, want := range [][2]int32{{32, 449}, {294, 574}, {32, 730}} {
		if q := split[k]; s.Parts.Ops[q] != want[0] || s.Parts.First[q] != want[1] {
			t.Errorf("partition %d: %d operations from step %d, want %v", q, s.Parts.Ops[q], s.Parts.First[q], want)
		}
	}
	before, equal, aggEqual, outside := 0, 0, 0, 0
	for i := range int32(s.Len()) {
		r := rowOf[i].values
		if s.Step[i] < 449 {
			before++
			if 2*int64(s.Step[i]) != r[1] {
				t.Fatalf("operation %d before the overlap is at step %d, Ravel has %d", i, s.Step[i], r[1]/2)
			}
		}
		if slices.Contains(split, s.Part[i]) {
			continue
		}
		outside++
		if s.Late[i] == r[2] && s.Diff[i] == r[3] {
			equal++
		}
		if s.AggDiff[i] == r[4] {
			aggEqual++
		}
	}
	if before != 2287 || outside != 7390 || equal != 7390 || aggEqual != 7390-21 {
		t.Errorf("%d operations before the overlap, %d outside, L and D equal in %d, DA in %d; want 2287, 7390, 7390, 7369", before, outside, equal, aggEqual)
	}
}
