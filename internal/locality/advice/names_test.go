package advice

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
)

// TestNamesOfObjects: objects are called after what holds them, where they were
// made or where they lie. Whatever the name, a change of theirs can be read again
// as it is printed, and its code is code.
func TestNamesOfObjects(t *testing.T) {
	m := twoNodes(t)
	for _, name := range []string{"p", "all.grid", "s->x", "tree.c:5 80 B", "item #2", "memory at 0x48506ad", `say "hi"; # no`, `back\slash`, "stack of thread 1"} {
		t.Run(name, func(t *testing.T) {
			tr, table := sweep(t)
			for _, o := range table.Objects[1:] {
				for at := uint64(0); o.Elem == 32 && at < 32; at += 8 {
					o.Fields = append(o.Fields, layout.Field{Name: fmt.Sprintf("f%d", at), Offset: at, Size: 8})
				}
			}
			infer(tr, table)
			_, profiles, err := profiles(context.Background(), tr, table, m)
			if err != nil {
				t.Fatal(err)
			}
			f := &finder{trace: tr, table: table, Options: Options{Machine: m}}
			kinds := map[Kind]int{}
			for _, p := range profiles[1:] {
				p.study(tr)
				if p.object.Name = name; p.object.Start == 0x200000 {
					p.object.Name += "2"
				}
				p.object.Start += 16 // to have something to align
				p.object.Size = max(p.object.Size, hugeLeast)
				all := f.layouts(p)
				p.traffic = &replay.Traffic{Lines: []uint64{1, 2}}
				for _, policy := range []replay.Policy{{Kind: replay.Bind}, {Kind: replay.Best}, {Kind: replay.Interleave}} {
					all = append(all, placeOf(p, m, policy, 3))
				}
				for _, a := range all {
					kinds[a.Kind]++
					plan, err := ReadMap(strings.NewReader(a.Map), tr, table)
					if err != nil {
						t.Errorf("%s: %q: %v", a.Kind, a.Map, err)
						continue
					}
					if n := p.object.Number; len(plan.Changes) > 0 && plan.Changes[0].Object != p.object || len(plan.Changes) == 0 && !plan.Huge[n] && plan.Homes[n].Kind == "" {
						t.Errorf("%s: %q changes another object", a.Kind, a.Map)
					}
					for _, line := range strings.Split(a.Code, "\n") {
						statement, _, _ := strings.Cut(line, "//")
						if cExpression.MatchString(p.object.Name) || !strings.Contains(statement, p.object.Name) {
							continue
						}
						t.Errorf("%s: %q is no code", a.Kind, line)
					}
				}
			}
			for _, want := range []Kind{Split, SoA, Align, Pad, Huge, Place} {
				if kinds[want] == 0 {
					t.Errorf("no %s was tried: %v", want, kinds)
				}
			}
		})
	}
	if !slices.ContainsFunc([]string{"p", "s->x", "a[3].b"}, cExpression.MatchString) || cExpression.MatchString("a b") {
		t.Error("what is an expression in C")
	}
}
