package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/locality/advice"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/platform"
)

// adviseFlags are the flags of `isobath advise` as the user wrote them.
type adviseFlags struct {
	localityFlags
	proveFlags
	forms                             findingsFlags
	machine, set, kinds, object, show string
	least                             float64
	reassociate                       bool
}

func newAdvise() *cobra.Command {
	var f adviseFlags
	cmd := &cobra.Command{
		Use:   "advise REFS",
		Short: "What to change: layouts and orders that would save misses, replayed before the edit",
		Long: `What to change: layouts and orders that would save misses, replayed before the
edit.

` + localityInput + ` Each candidate is a change of addresses or of order that is
run through the model of a machine, wherever its memory may come to lie; what
saves at least --least of the modelled cost of all misses in the worst placement
is printed with its code. Nothing is printed where nothing is to gain.`,
		Example: `  isobath advise run.isobath
  isobath advise run.isobath --machine zen3 --kind split,reorder --show map
  isobath advise run.isobath --prove --function work -- ./changed`,
		Args: func(_ *cobra.Command, args []string) error {
			if f.prove && len(args) < 2 || !f.prove && len(args) != 1 {
				return usagef("advise takes one trace, and with --prove the changed program after --")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout(), args[0], args[1:])
		},
	}
	f.add(cmd, 8)
	f.forms.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.machine, "machine", "", "replay on this machine: a topology file, a run, local, or a preset (default: that of the run, else local)")
	fl.StringVar(&f.set, "set", "", "change the machine: L1.size=48K,L1.ways=12,…")
	fl.StringVar(&f.kinds, "kind", "", "only these: align, pad, reorder, split, soa, interchange, block, huge, place, order")
	fl.StringVar(&f.object, "object", "", "only changes of this object")
	fl.Float64Var(&f.least, "least", advice.DefaultLeast, "least part of the modelled cost that a change must save")
	fl.StringVar(&f.show, "show", "code", "print the change as code, or as a map for 'whatif --map'")
	fl.BoolVar(&f.reassociate, "reassociate", false, "offer orders of loops that change the order of sums too")
	fl.BoolVar(&f.prove, "prove", false, "record the changed program, given after --, and compare it with the prediction")
	fl.StringVar(&f.function, "function", "main", "with --prove: record this function, as the trace was recorded")
	fl.StringVar(&f.backend, "backend", "auto", "with --prove: how to record; see 'isobath record'")
	fl.IntVar(&f.pick, "pick", 1, "with --prove: which advice the program was changed by")
	fl.IntVar(&f.rounds, "rounds", 5, "with --prove: run both programs so often in turn for their time; 0 does not")
	return cmd
}

func (f *adviseFlags) run(ctx context.Context, out io.Writer, path string, changed []string) error {
	ask := refset.AdviseAsk{Machine: f.machine, Set: f.set, Object: f.object, Least: f.least, Reassociate: f.reassociate,
		Kinds: strings.FieldsFunc(f.kinds, func(r rune) bool { return r == ',' })}
	if f.show != "code" && f.show != "map" {
		return usagef("--show %q: want code or map", f.show)
	}
	if err := f.forms.check(f.json); err != nil {
		return err
	}
	var err error
	s, err := f.open(ctx, path)
	if err != nil {
		return err
	}
	defer s.Close()
	var done func()
	ask.Progress, done = progressLine("advise")
	a, err := s.Advise(ctx, ask)
	done()
	if err != nil {
		return err
	}
	var proof *answer.Proof
	if f.prove {
		if proof, err = f.proof(ctx, s, a, changed); err != nil {
			return err
		}
	}
	a.Answer = s.Proven(a.Answer)
	a.Answer.Proof = proof
	if f.json {
		return printJSON(out, a.Answer)
	}
	if f.forms.format != "" {
		return f.forms.write(out, adviceFindings(a.Answer, f.top))
	}
	return f.write(out, a.Answer, a.Machine)
}

func (f *adviseFlags) write(out io.Writer, a *answer.Advise, m *platform.Machine) error {
	w := &strings.Builder{}
	fmt.Fprintf(w, "%s on %s: %.2f modelled cycles of misses a reference; %s replayed\n", term.Counted(a.References, "reference"), m.Name,
		a.Cost.Now/float64(max(a.References, 1)), term.Counted(a.Tried, "change"))
	wrap(w, "", "misses are without prefetching, and if prefetched by an ideal stride prefetcher: a real one lies between; ranges are over the places of memory")
	notes(w, a.Notes)
	if a.Silence != nil {
		wrap(w, "", *a.Silence+".")
	}
	for i, x := range shownAdvice(a.Advice, f.top) {
		if a.Proof != nil && x.Proof != nil && x.Proof.Made == a.Proof.Made {
			x.Proof = nil // it stands below with all its numbers
		}
		writeAdvice(w, i+1, x, f.show)
	}
	for i := range a.Proofs {
		p := &a.Proofs[i]
		w.WriteString("\nkept proof of ")
		writeWrapped(w, strings.TrimSpace(p.Kind+" "+p.Object)+", "+keptText(p), 3, 90)
	}
	if p := a.Proof; p != nil {
		fmt.Fprintf(w, "\nproof of advice %d:\n", f.pick)
		for _, l := range p.Levels {
			fmt.Fprintf(w, "   %-6s %12s now, %s predicted, %s recorded\n", l.Level, term.Thousands(l.Now), rangeOf(l.Predicted), term.Thousands(l.Recorded))
		}
		wrap(w, "   ", p.Text+".")
	}
	_, err := io.WriteString(out, w.String())
	return err
}

func writeAdvice(w *strings.Builder, n int, x answer.Advice, show string) {
	fmt.Fprintf(w, "\n%d. ", n)
	writeWrapped(w, x.Text, 3, 90)
	if x.Gain != nil {
		fmt.Fprintf(w, "   saves %s of the modelled cost of misses", gainText(*x.Gain))
		if with := gainText(*x.Prefetched); with != gainText(*x.Gain) {
			fmt.Fprintf(w, ", %s with an ideal prefetcher", with)
		}
		if n > 1 {
			fmt.Fprintf(w, "; with all above it %s", term.Percent(x.Together))
		}
		w.WriteString("\n")
	}
	for _, s := range x.Assumes {
		w.WriteString("   assumes: ")
		writeWrapped(w, s, 12, 90)
	}
	if x.Legal != "" {
		w.WriteString("   legal: ")
		writeWrapped(w, x.Legal, 10, 90)
	}
	text := x.Code
	if show == "map" {
		text = x.Map
	}
	for line := range strings.Lines(text) {
		w.WriteString("       " + line)
	}
	writeKept(w, x.Proof)
	for _, i := range x.Instead {
		w.WriteString("   instead: ")
		writeWrapped(w, fmt.Sprintf("%s, %s: saves %s", i.Kind, i.Change, gainText(i.Gain)), 12, 90)
		writeKept(w, i.Proof)
	}
}

// writeKept says what an earlier proof found.
func writeKept(w *strings.Builder, p *answer.Proof) {
	if p == nil {
		return
	}
	w.WriteString("   proven: ")
	writeWrapped(w, keptText(p), 11, 90)
}

// keptText is a kept proof with its day, its program, and why it may not hold.
func keptText(p *answer.Proof) string {
	day, _, _ := strings.Cut(p.Made, "T")
	text := fmt.Sprintf("%s with %s: %s", day, strings.Join(p.Command, " "), p.Text)
	if len(p.Stale) > 0 {
		text += ". Out of date: " + strings.Join(p.Stale, "; ")
	}
	return text + "."
}

// shownAdvice is the first so many of all; 0 is all of them.
func shownAdvice(all []answer.Advice, top int) []answer.Advice {
	if top <= 0 {
		return all
	}
	return all[:min(len(all), top)]
}

func gainText(g [2]float64) string {
	if term.Percent(g[0]) == term.Percent(g[1]) {
		return term.Percent(g[0])
	}
	return fmt.Sprintf("%s to %s", strings.TrimSuffix(term.Percent(g[0]), " %"), term.Percent(g[1]))
}
