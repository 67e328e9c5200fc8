package command

import (
	"slices"
	"testing"
)

// is accepts a suggestion that does what was meant.
type is func(Suggestion) bool

func selects(where string) is {
	return func(s Suggestion) bool { return s.Action == Select && s.Where == where && s.Missing == "" }
}

func does(a Action, axes ...string) is {
	return func(s Suggestion) bool { return s.Action == a && slices.Equal(s.Axes, axes) && s.Missing == "" }
}

// position is where in the list, from 1, something that does what was meant
// stands; 0 if nowhere.
func position(s *Searcher, t *testing.T, text string, want is) int {
	t.Helper()
	list, err := s.Search(t.Context(), text, shown)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return 1 + slices.IndexFunc(list, want)
}

// TestThesisTable is Table 3.1 of the thesis: after how many typed characters
// the command first appears, and its best position on the way. The last three
// rows are those that it gives as failures; they must come first here.
func TestThesisTable(t *testing.T) {
	s := searcher(t, ibs(t))
	l1 := selects(`level in (L2, L3, "Local RAM", "Remote Cache", "Remote RAM")`)
	misp := selects("ibs_op_brn_misp = 1")
	l1tlb := does(Correlate, "ibs_dc_l1_tlb_miss", "line")
	l2tlb := does(Correlate, "ibs_dc_l2_tlb_miss", "latency")
	uid := does(Correlate, "instruction", "level")
	tests := []struct {
		input       string
		want        is
		first, best int // 0: the whole input, first
	}{
		{"L1 misses", l1, 2, 2},
		{"L1 cache miss", l1, 2, 1},
		{"timestamp", does(Hide, "time"), 1, 1},
		{"hide timestamp", does(Hide, "time"), 6, 1},
		{"correlate L1 TLB miss with source line", l1tlb, 12, 1},
		{"L1 TLB with source line", l1tlb, 15, 1},
		{"correlate instruction UID with data source", uid, 14, 1},
		{"instruction UID with data source", uid, 23, 1},
		{"correlate L2 TLB miss with load latency", l2tlb, 28, 1},
		{"L2 TLB with latency", l2tlb, 14, 1},
		{"misp brn", misp, 4, 1},
		{"miss L1", l1, 0, 1},
		{"brn misp", misp, 0, 1},
		{"select brn misp", misp, 0, 1},
	}
	for _, tt := range tests {
		t.Run(tt.input, func(t *testing.T) {
			first, best := 0, 0
			for n := 1; n <= len(tt.input); n++ {
				p := position(s, t, tt.input[:n], tt.want)
				if p == 0 {
					continue
				}
				if first == 0 {
					first = n
				}
				if best == 0 || p < best {
					best = p
				}
			}
			last := position(s, t, tt.input, tt.want)
			t.Logf("%-45s first at %d (thesis %d), best %d (thesis %d), in the end %d", tt.input, first, tt.first, best, tt.best, last)
			if tt.first > 0 && (first == 0 || first > tt.first) {
				t.Errorf("first appears after %d characters, the thesis has %d", first, tt.first)
			}
			if best == 0 || best > tt.best {
				t.Errorf("best position %d, the thesis has %d", best, tt.best)
			}
			if last != 1 {
				t.Errorf("position %d for the whole input: %s", last, texts(s, t, tt.input))
			}
		})
	}
}

func texts(s *Searcher, t *testing.T, text string) (out []string) {
	list, err := s.Search(t.Context(), text, shown)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range list {
		out = append(out, l.Text)
	}
	return out
}
