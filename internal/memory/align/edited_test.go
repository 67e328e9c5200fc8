package align

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// editing changes a text and knows which line became which.
type editing struct {
	random *rand.Rand
	words  []string // to write in place of others
}

// edited changes a part of the lines: each by one to three words that are replaced,
// put in or taken out, or it goes, or another comes before it; and one block moves.
// Lines from 0; came[j] is the line that j was, or −1.
func (e *editing) edited(text []string, part float64) (out []string, came []int) {
	order := upTo(len(text))
	var blanks []int
	for i, t := range text {
		if strings.TrimSpace(t) == "" {
			blanks = append(blanks, i)
		}
	}
	if n := len(blanks); part > .05 && n > 2 { // what lies between blank lines moves
		k := e.random.IntN(n - 1)
		block := slices.Clone(order[blanks[k]:blanks[k+1]])
		order = slices.Concat(order[:blanks[k]], order[blanks[k+1]:])
		to := e.random.IntN(n - 1)
		if to = blanks[to]; to > blanks[k] {
			to -= len(block)
		}
		order = slices.Insert(order, to, block...)
	}
	for _, i := range order {
		if strings.TrimSpace(text[i]) == "" || e.random.Float64() >= part {
			out, came = append(out, text[i]), append(came, i)
			continue
		}
		switch e.random.IntN(10) {
		case 0: // gone
		case 1:
			out, came = append(out, "  "+e.word()+" = "+e.word()+" + "+e.word(), text[i]), append(came, -1, i)
		default:
			out, came = append(out, e.rewritten(text[i])), append(came, i)
		}
	}
	return out, came
}

func (e *editing) word() string { return e.words[e.random.IntN(len(e.words))] }

// rewritten changes one to three words of a line, but no more than a third of them.
func (e *editing) rewritten(line string) string {
	words := strings.Fields(line)
	for range max(1, min(1+e.random.IntN(3), len(words)/3)) {
		at := e.random.IntN(len(words))
		switch e.random.IntN(3) {
		case 0:
			words[at] = e.word()
		case 1:
			words = slices.Insert(words, at, e.word())
		default:
			if len(words) > 1 {
				words = slices.Delete(words, at, at+1)
			}
		}
	}
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))] + strings.Join(words, " ")
}

// recall is the parts of unmodified and of modified lines that find their partner,
// and of pairs that are right.
type recall struct{ equal, equalAll, modified, modifiedAll, right, made int }

func (f *recall) add(a, b []string, came []int) {
	m := matchTexts(a, b)
	was := map[int]int{}
	for j, i := range came {
		if i < 0 || strings.TrimSpace(b[j]) == "" {
			continue
		}
		was[j] = i
		hit := int(one(m.toA[j] == i))
		if m.a[i].text == m.b[j].text {
			f.equal, f.equalAll = f.equal+hit, f.equalAll+1
		} else {
			f.modified, f.modifiedAll = f.modified+hit, f.modifiedAll+1
		}
	}
	for j, i := range m.toA {
		if want, known := was[j]; i >= 0 && !m.b[j].common {
			near := known && want-i <= 2 && i-want <= 2 && m.a[i].text == m.a[want].text
			f.right, f.made = f.right+int(one(known && want == i || near)), f.made+1
		}
	}
}

func share(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

func (f *recall) String() string {
	return fmt.Sprintf("unmodified found %.3f of %d, modified %.3f of %d, right pairs %.3f of %d", share(f.equal, f.equalAll), f.equalAll, share(f.modified, f.modifiedAll), f.modifiedAll, share(f.right, f.made), f.made)
}

// edits counts how lines of files are found again after edits of a part of them.
func edits(t *testing.T, files []string, part float64, rounds int) *recall {
	t.Helper()
	all := &recall{}
	for k, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		a := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		e := &editing{random: rand.New(rand.NewPCG(uint64(k), uint64(1000*part))), words: strings.Fields("grid lower total (n) k+1 0.5d0 .and. weight(i) mass, !$omp rho(i,j) 64")}
		for range rounds {
			b, came := e.edited(a, part)
			all.add(a, b, came)
		}
	}
	return all
}

// TestEditedFortran finds lines of two programs again after edits whose every line is
// known: lines written anew, gone and new ones, functions that moved.
func TestEditedFortran(t *testing.T) {
	for _, name := range []string{"diffuse.f90", "relax.f"} {
		path := filepath.Join("testdata", name)
		for _, part := range []float64{.05, .1, .25} {
			got := edits(t, []string{path}, part, 10)
			t.Logf("%s, %.0f %% edited: %s", name, 100*part, got)
			if share(got.equal, got.equalAll) < .985 || share(got.modified, got.modifiedAll) < .92 || share(got.right, got.made) < .995 {
				t.Errorf("%s, %.0f %% edited: %s", name, 100*part, got)
			}
		}
	}
}
