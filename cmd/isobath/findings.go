package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/findings"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/memory/guide"
)

// findingsFlags let a verb print what it found for editors, code hosts and build
// servers.
type findingsFlags struct{ format, root string }

func (f *findingsFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.format, "format", "", "print what was found for other programs: sarif, markdown, junit or github (notes beside lines)")
	cmd.Flags().StringVar(&f.root, "source-root", "", "with --format: name files relative to this `folder` (default: the work tree around each)")
}

// check refuses an unknown form, or two at once, before any work is done.
func (f *findingsFlags) check(json bool) error {
	if f.format == "" {
		return nil
	}
	if json {
		return usagef("--format and --json: one of them can be printed")
	}
	if _, err := findings.ParseFormat(f.format); err != nil {
		return usagef("--format %v", err)
	}
	return nil
}

// write prints a list in the form that was asked for.
func (f *findingsFlags) write(w io.Writer, l *findings.List) error {
	l.Version, l.Root, l.Command = version, f.root, commandLine()
	return l.Write(w, findings.Format(f.format))
}

// commandLine is what the user typed.
func commandLine() string { return strings.Join(append([]string{"isobath"}, os.Args[1:]...), " ") }

// levelOf says how much a share of the whole matters: a tenth of a run is worth
// an hour of most people.
func levelOf(share float64) findings.Level {
	if share >= .1 {
		return findings.Warning
	}
	return findings.Note
}

// insightFindings places every insight on the line that most of its cost is on.
func insightFindings(ctx context.Context, s *dataset.Set, found []guide.Insight) (*findings.List, error) {
	l := &findings.List{Verb: "insights", Summary: fmt.Sprintf("%s worth a look", term.Counted(len(found), "finding")), Notes: s.Run.Warnings}
	seen := map[string]bool{}
	for _, in := range found {
		f := findings.Finding{Rule: "isobath/" + in.Kind, Level: levelOf(in.Stake), Name: in.Kind,
			Text: fmt.Sprintf("%s. %s is at stake.", in.Text, in.StakeText())}
		if in.PartOf != "" {
			f.Level = findings.Note
			f.Text += " It is " + partText(&in) + "."
		}
		if in.Where != "" {
			f.Text += " Where: " + in.Where
		}
		if !seen[in.Kind] {
			seen[in.Kind] = true
			l.Rules = append(l.Rules, findings.Rule{ID: f.Rule, Short: "Memory accesses: " + in.Kind, Help: "'isobath insights' explains it with its numbers; the selection in the message shows the samples."})
		}
		if err := onLine(ctx, s, in.Where, &f); err != nil {
			return nil, err
		}
		l.Findings = append(l.Findings, f)
	}
	return l, nil
}

// onLine puts a finding on the line with the largest cost of its samples.
func onLine(ctx context.Context, s *dataset.Set, where string, f *findings.Finding) error {
	if s.Table.Column(samples.File) == nil || s.Table.Column(samples.Line) == nil {
		return nil
	}
	r, err := makeReport(ctx, s, samples.Line, where, query.BySum, 1)
	if err != nil {
		if errors.As(err, new(*query.AskError)) {
			return nil // samples that lines cannot be asked of
		}
		return err
	}
	for _, g := range r.Groups {
		f.File, f.Line = g.place()
	}
	return nil
}

// place is the line of source that a group is, if it is one.
func (g *reportGroup) place() (file string, line int) {
	name, ok := g.Key[samples.File].(string)
	n, err := strconv.Atoi(fmt.Sprint(g.Key[samples.Line]))
	if !ok || err != nil || n < 1 {
		return "", 0
	}
	return name, n
}

// findings lists the groups of a report.
func (r *report) findings(notes []string) *findings.List {
	const rule = "isobath/cost"
	l := &findings.List{Verb: "report", Summary: r.headline(), Notes: notes, Rules: []findings.Rule{
		{ID: rule, Short: "What accesses to memory cost here", Help: "The share of the cost of all selected samples, as 'isobath report' prints it."}}}
	about := about(r.Provenance)
	for i := range r.Groups {
		g := &r.Groups[i]
		text := fmt.Sprintf("%s of the cost, %s", term.Percent(g.Share), term.Counted(g.Samples, "sample"))
		switch {
		case g.Latency != nil:
			text += fmt.Sprintf(", %s%s %s, mean %s%.1f (%s)", about, term.Short(*g.Latency), samples.LatencyWord(r.Unit), about, *g.Mean, r.Provenance)
		case g.Sum != nil:
			text = fmt.Sprintf("%s of all, %s %s", term.Percent(g.Share), term.Thousands(int64(*g.Sum)), r.Summed.what())
		}
		f := findings.Finding{Rule: rule, Level: findings.Note, Name: strings.Join(g.label, ":"), Text: text}
		f.File, f.Line = g.place()
		if name, ok := g.Key[samples.Function].(string); ok {
			f.Function = name
		}
		l.Findings = append(l.Findings, f)
	}
	return l
}

// findings lists the causes of a trace by what removing each gains.
func (a *stepsAnswer) findings() *findings.List {
	l := &findings.List{Verb: "steps", Summary: fmt.Sprintf("%s, %s, %s", term.Counted(a.Processes, "process"), term.Counted(a.Messages, "message"), term.Duration(a.SpanNS)),
		Notes: append(append([]string{a.Coverage.Text}, a.Notes...), a.Warnings...)}
	if a.Run != nil && a.Run.Text != "" {
		l.Summary += ": " + a.Run.Text
	}
	seen := map[string]bool{}
	for _, g := range a.Gains {
		f := findings.Finding{Rule: "isobath/late-" + g.Kind, Level: levelOf(g.Gain), Name: strings.TrimSpace(g.Kind + " " + g.Region), Text: g.Text, File: g.File, Line: int(g.Line), Function: g.Name}
		if !seen[g.Kind] {
			seen[g.Kind] = true
			l.Rules = append(l.Rules, findings.Rule{ID: f.Rule, Short: "Messages are late: " + g.Kind, Help: "The gain is modelled by replaying the trace without this cause; 'isobath steps' lists its evidence."})
		}
		l.Findings = append(l.Findings, f)
	}
	return l
}

// namedPlace is how a loop is called, and an object that an allocation made: "heat.c:57
// 8 MiB". Memory that nothing but its use is known of is called after that.
var namedPlace = regexp.MustCompile(`^(.+?):(\d+)(?: .*)?$`)

// onAdvised puts a finding on the line that a piece of advice is about: of a loop,
// of an allocation, else the one where the object costs most.
func onAdvised(x *answer.Advice, f *findings.Finding) {
	for _, text := range []string{x.Place, x.Object, x.Line} {
		m := namedPlace.FindStringSubmatch(text)
		if m == nil || strings.HasPrefix(text, "memory of ") {
			continue
		}
		f.File = m[1]
		f.Line, _ = strconv.Atoi(m[2])
		if text == x.Line {
			f.Text += " No other line costs more of its misses."
		}
		return
	}
}

// adviceFindings lists advice; what is about a loop or an allocation is put on its
// line.
func adviceFindings(a *answer.Advise, top int) *findings.List {
	l := &findings.List{Verb: "advise", Notes: a.Notes, Summary: fmt.Sprintf("%s of %s replayed", term.Counted(len(a.Advice), "piece of advice"), term.Counted(a.Tried, "change"))}
	if a.Silence != nil {
		l.Summary = *a.Silence
	}
	seen := map[string]bool{}
	for _, x := range shownAdvice(a.Advice, top) {
		f := findings.Finding{Rule: "isobath/advice-" + x.Kind, Level: findings.Note, Name: x.Kind + " " + x.Object, Text: x.Text}
		if x.Gain != nil {
			f.Level = levelOf(x.Gain[0])
			f.Text += fmt.Sprintf(" Saves %s of the modelled cost of misses.", gainText(*x.Gain))
		}
		onAdvised(&x, &f)
		if !seen[x.Kind] {
			seen[x.Kind] = true
			l.Rules = append(l.Rules, findings.Rule{ID: f.Rule, Short: "A change of layout or order: " + x.Kind, Help: "Replayed through the model of a machine before the edit; 'isobath advise' prints it as code."})
		}
		l.Findings = append(l.Findings, f)
	}
	return l
}
