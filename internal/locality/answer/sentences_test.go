package answer

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/locality/advice"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/sharing"
)

var numberIn = regexp.MustCompile(`0x[0-9a-f]+|\d+`)

// sentencesTried is how often a property is tried with numbers that are drawn.
const sentencesTried = 2000

// holdNumbers holds that every number of a sentence is one it rests on.
func holdNumbers(t *testing.T, text string, rests ...any) {
	t.Helper()
	var known []string
	for _, n := range rests {
		known = append(known, fmt.Sprint(n))
	}
	for _, n := range numberIn.FindAllString(text, -1) {
		if !slices.Contains(known, n) {
			t.Errorf("%q: %s is none of %v", text, n, known)
		}
	}
}

// TestSharingSentences: what is said of a shared line is in its row, and what is
// said of one start of the object is of that start.
func TestSharingSentences(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	misses := func() sharing.Misses {
		n, f := r.Uint64N(500), r.Uint64N(500)
		return sharing.Misses{Coherence: n + f, True: n, False: f}
	}
	later := regexp.MustCompile(`up to (\d+) if it starts (\d+) bytes later`)
	for range sentencesTried {
		l := &sharing.Line{Addr: 0x1000 + 64*r.Uint64N(100), Bytes: 64, Kind: []sharing.Kind{sharing.True, sharing.False, sharing.Latent, sharing.Synchronisation, sharing.Library}[r.IntN(5)],
			Least: misses(), Most: misses(), Recorded: misses(), Clocked: misses(), Wider: misses(), Separate: misses(), Users: make([]sharing.User, 2+r.IntN(6))}
		for i := range l.Users {
			l.Users[i].Stores = r.Uint64N(2)
		}
		if l.Kind == sharing.Latent && r.IntN(2) == 0 {
			l.Wider = sharing.Misses{}
		}
		for bytes := uint64(8); bytes < 64; bytes += 8 {
			m := sharing.Moved{Bytes: bytes}
			if r.IntN(2) == 0 {
				m.Misses = misses()
			}
			l.Moved = append(l.Moved, m)
		}
		s := sharedLine(l, &replay.Trace{}, layoutOf("u"))
		rests := []any{s.Addr, len(l.Users), l.Writers(), l.Least.Coherence, l.Most.Coherence, l.Clocked.Coherence, l.Clocked.True, l.Clocked.False, l.Separate.Coherence, l.Wider.Coherence, 128}
		for _, m := range l.Moved {
			rests = append(rests, m.Bytes, m.Misses.Coherence)
		}
		holdNumbers(t, s.Text, rests...)
		if !slices.ContainsFunc(s.Moved, func(m SharedMoved) bool { return m.Most > 0 }) == later.MatchString(s.Text) && l.Kind == sharing.Latent {
			t.Errorf("%q of %+v", s.Text, s.Moved)
		}
		if said := later.FindStringSubmatch(s.Text); said != nil {
			most := slices.MaxFunc(s.Moved, func(a, b SharedMoved) int { return int(a.Most) - int(b.Most) })
			if said[1] != fmt.Sprint(most.Most) || !slices.Contains(s.Moved, SharedMoved{parse(said[2]), most.Most}) {
				t.Errorf("%q of %+v", s.Text, s.Moved)
			}
		}
		if strings.Contains(s.Text, "the other") && l.Clocked.True+l.Clocked.False != l.Clocked.Coherence {
			t.Errorf("%q of %+v", s.Text, l.Clocked)
		}
	}
}

// TestSharedFields: a shared line is called by the fields that threads use of it, in
// one structure and in an array of them, and not by others that lie there too.
func TestSharedFields(t *testing.T) {
	fields := []layout.Field{{Name: "head", Size: 8}, {Name: "spare", Offset: 8, Size: 8}, {Name: "tail", Offset: 16, Size: 8}}
	line := func(bytes ...[][2]uint64) *sharing.Line {
		l := &sharing.Line{Addr: 0x1000, Bytes: 64, Object: 1, Kind: sharing.False}
		for _, b := range bytes {
			l.Users = append(l.Users, sharing.User{Stores: 1, Bytes: b})
		}
		return l
	}
	for _, tt := range []struct {
		name, field, text string
		object            layout.Object
		line              *sharing.Line
	}{
		{"a structure", "head, tail", "q.head, q.tail (line 0x1000)", layout.Object{Start: 0x1000, Size: 24, Elem: 24, Fields: fields}, line([][2]uint64{{0, 8}}, [][2]uint64{{16, 24}})},
		{"begun before", "tail", "q.tail (line 0x1000)", layout.Object{Start: 0xff0, Size: 24, Elem: 24, Fields: fields}, line([][2]uint64{{0, 4}}, [][2]uint64{{4, 8}})},
		{"an array", "tail, head", "q.tail, q.head (line 0x1000)", layout.Object{Start: 0xfe8, Size: 240, Elem: 24, Fields: fields}, line([][2]uint64{{16, 24}}, [][2]uint64{{24, 32}})},
		{"beside it", "head", "q.head (line 0x1000)", layout.Object{Start: 0x1000, Size: 24, Elem: 24, Fields: fields}, line([][2]uint64{{0, 8}}, [][2]uint64{{40, 48}})},
		{"no fields", "", "q (line 0x1000)", layout.Object{Start: 0x1000, Size: 64, Elem: 8}, line([][2]uint64{{0, 8}}, [][2]uint64{{16, 24}})},
	} {
		tt.object.Name = "q"
		s := sharedLine(tt.line, &replay.Trace{}, &layout.Table{Objects: []*layout.Object{nil, &tt.object}})
		if s.Field != tt.field || !strings.HasPrefix(s.Text, tt.text+":") {
			t.Errorf("%s: fields %q, want %q; %q, want %q", tt.name, s.Field, tt.field, s.Text, tt.text)
		}
	}
}

func parse(text string) (n uint64) {
	fmt.Sscan(text, &n)
	return n
}

func layoutOf(name string) *layout.Table {
	return &layout.Table{Objects: []*layout.Object{{Name: name}}}
}

// TestProofSentences: a proof says that a prediction holds, that misses were saved
// and that time was saved where its rows do.
func TestProofSentences(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	m, _ := platform.Preset("classic")
	for range sentencesTried {
		counts := func(around uint64) replay.Counts {
			c := replay.Counts{References: 1 << 20, Walks: r.Uint64N(around + 1)}
			for range m.Levels {
				c.Misses, c.Hidden = append(c.Misses, around+r.Uint64N(around/10+1)), append(c.Hidden, r.Uint64N(around))
			}
			return c
		}
		kind := []advice.Kind{advice.Huge, advice.Place, advice.Split}[r.IntN(3)]
		a := &advice.Advice{Kind: kind, Object: &layout.Object{Name: "u"}, What: "pages of 2 MiB", Now: counts(1000 + r.Uint64N(4000))}
		for _, place := range replay.Placements {
			a.Then = append(a.Then, advice.Placed{Placement: place, Counts: counts(1000)})
		}
		after := counts(900 + r.Uint64N(300))
		p := NewProof(a, m, 1<<20)
		p.AddLevels(a, after, m)
		if r.IntN(4) > 0 {
			p.Time = &ProofTime{Rounds: 1 + r.IntN(20), Before: 1 + r.Float64(), After: 1 + r.Float64()}
			p.Time.Faster = r.IntN(p.Time.Rounds + 1)
			p.Time.Output = []Output{OutputSame, OutputDiffers, OutputVaries}[r.IntN(3)]
		}
		p.Conclude()
		holds, saved := true, false
		for i, l := range p.Levels {
			least, most := ^uint64(0), uint64(0)
			for _, then := range a.Then {
				n := then.Counts.Walks
				if i < len(m.Levels) {
					n = then.Counts.Misses[i]
				}
				least, most = min(least, n), max(most, n)
			}
			inside := float64(l.Recorded) >= 0.98*float64(least) && float64(l.Recorded) <= 1.02*float64(most)
			if l.Inside != inside || strings.Contains(p.Text, fmt.Sprintf("%s: predicted %s, recorded %d", missName(l.Level), rangeText(l.Predicted), l.Recorded)) == inside {
				t.Errorf("%q of %+v", p.Text, l)
			}
			holds = holds && (inside || i == len(m.Levels))
			saved = saved || 20*l.Recorded < 19*l.Now
		}
		// References show no pages: what a change of these predicts is not proven.
		pages := kind == advice.Huge || kind == advice.Place
		if p.Holds != (holds && !pages) || strings.Contains(p.Text, "references do not tell") != pages {
			t.Errorf("%s holds: %v, of %+v: %q", kind, p.Holds, p.Levels, p.Text)
		}
		if walks := slices.ContainsFunc(p.Levels, func(l ProofLevel) bool { return l.Level == "walks" }); walks == (kind == advice.Huge) {
			t.Errorf("%s: walks of the changed program: %v", kind, walks)
		}
		other := p.Time != nil && p.Time.Output == OutputDiffers
		faster := p.Time != nil && !other && p.Time.After < p.Time.Before && 4*p.Time.Faster >= 3*p.Time.Rounds
		slow := p.Time != nil && !other && !faster
		for saves, want := range map[Saves]bool{SavesUnknown: other, SavesTime: faster, SavesMisses: slow && saved, SavesUntimed: p.Time == nil && saved,
			SavesNothing: (p.Time == nil || slow) && !saved} {
			if (p.Saves == saves) != want {
				t.Errorf("%q: saves %s, and %s is %v", p.Text, p.Saves, saves, want)
			}
		}
		for phrase, want := range map[string]bool{
			"the time was not measured": p.Time == nil, "in place of": faster, "printed another result": other,
			"the misses saved no time": slow && saved, "; no time was saved": slow && !saved,
		} {
			if strings.Contains(p.Text, phrase) != want {
				t.Errorf("%q: says %q, want %v", p.Text, phrase, want)
			}
		}
	}
}

// TestProofOfShortPrograms: times that differ are not printed alike.
func TestProofOfShortPrograms(t *testing.T) {
	for _, before := range []float64{2.1, 0.0132, 0.00138, 0.000096} {
		p := &Proof{Time: &ProofTime{Rounds: 5, Before: before, After: 0.8 * before, Faster: 5}}
		p.Conclude()
		m := regexp.MustCompile(`it takes (\S+\s\S+) in place of (\S+\s\S+) of`).FindStringSubmatch(p.Text)
		if m == nil || m[1] == m[2] {
			t.Errorf("%g s: %q", before, p.Text)
		}
	}
}

// TestAdviceSentences: numbers of a sentence of advice are those of its levels, and
// a level that does not change is left out.
func TestAdviceSentences(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	m, _ := platform.Preset("classic")
	for range sentencesTried {
		draw := func() replay.Counts {
			c := replay.Counts{References: 4321, Walks: 70 + r.Uint64N(2)}
			for range m.Levels {
				c.Misses, c.Hidden = append(c.Misses, 100+r.Uint64N(3)), append(c.Hidden, r.Uint64N(3))
			}
			return c
		}
		a := &advice.Advice{Kind: advice.SoA, Object: &layout.Object{Name: "u"}, What: "one array a field", Now: draw()}
		for _, place := range replay.Placements[:1+r.IntN(len(replay.Placements))] {
			a.Then = append(a.Then, advice.Placed{Placement: place, Counts: draw()})
		}
		out := adviceOf(a, m)
		_, after, _ := strings.Cut(out.Text, "one array a field.")
		for _, l := range m.Levels {
			after = strings.ReplaceAll(after, l.Name, "")
		}
		rests := []any{4321, len(a.Then)}
		for _, l := range out.Levels {
			rests = append(rests, l.Now, l.Then[0], l.Then[1], l.NowPrefetch[0], l.ThenIdeal[0], l.ThenIdeal[1])
			changed := l.Now != l.Then[0] || l.Now != l.Then[1]
			if strings.Contains(out.Text, missName(l.Level)+" ") != changed {
				t.Errorf("%q of %+v", out.Text, l)
			}
			for i := range a.Then {
				n := a.Then[i].Counts.Walks
				if k := slices.IndexFunc(m.Levels, func(x platform.Level) bool { return x.Name == l.Level }); k >= 0 {
					n = a.Then[i].Counts.Misses[k]
				}
				if n < l.Then[0] || n > l.Then[1] {
					t.Errorf("%s: %d in a placement is outside of %v", l.Level, n, l.Then)
				}
			}
		}
		holdNumbers(t, after, rests...)
	}
}

// TestExclusiveNote: the conflicts of an exclusive cache are explained, with their
// number, where there are any, and those of other caches are not.
func TestExclusiveNote(t *testing.T) {
	m, _ := platform.Preset("classic")
	last := len(m.Levels) - 1
	s := &replay.Survey{Levels: make([]replay.LevelCounts, len(m.Levels))}
	for i := range s.Levels {
		s.Levels[i].Misses, s.Levels[i].Full = 700, 400
	}
	said := func() []string {
		w := &WhatIf{}
		w.noteExclusive(m, s)
		return w.Notes
	}
	if n := said(); len(n) != 0 {
		t.Errorf("no level is exclusive: %q", n)
	}
	if err := m.Set("L3.policy=exclusive"); err != nil {
		t.Fatal(err)
	}
	n := said()
	if len(n) != 1 || !strings.Contains(n[0], m.Levels[last].Name+" of "+m.Name) || !strings.Contains(n[0], fmt.Sprintf("its %d conflicts", s.Levels[last].Conflict())) || s.Levels[last].Conflict() != 300 {
		t.Errorf("%q", n)
	}
	if s.Levels[last].Full = 700; len(said()) != 0 {
		t.Errorf("no conflicts: %q", said())
	}
}
