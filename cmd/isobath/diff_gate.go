package main

import (
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/memory/compare"
)

// gateFlag is one limit of --fail-above or --fail-below.
type gateFlag struct {
	compare.Gate
	by     string
	metric compare.Metric
}

// gates reads both flags.
func (f *diffFlags) gates() ([]gateFlag, error) {
	above, err := f.parseGate("--fail-above", f.failAbove, false)
	if err != nil {
		return nil, err
	}
	below, err := f.parseGate("--fail-below", f.failBelow, true)
	return append(above, below...), err
}

// parseGate reads `5%`, `5%,METRIC…`, `line:10%,function:5%`: limits, each with
// the metrics that follow it.
func (f *diffFlags) parseGate(flag, text string, below bool) ([]gateFlag, error) {
	var out []gateFlag
	named := false // whether the last limit has metrics of its own
	for word := range strings.SplitSeq(text, ",") {
		word = strings.TrimSpace(word)
		if word == "" {
			continue
		}
		by, limit, cut := strings.Cut(word, ":")
		if !cut {
			by, limit = f.by, word
		}
		if change, points, ok := parseLimit(limit); ok {
			metric := compare.Metric(f.metric)
			if points {
				metric = compare.Share
			}
			out = append(out, gateFlag{compare.Gate{Change: change, Points: points, Below: below}, by, metric})
			named = false
			continue
		}
		if len(out) == 0 || cut {
			return nil, usagef("%s %q: want a limit such as 5%%, 2pp or line:10%%, then metrics", flag, text)
		}
		last := out[len(out)-1]
		if named {
			out = append(out, last)
		}
		out[len(out)-1].metric, named = compare.Metric(word), true
	}
	return out, nil
}

// parseLimit reads a change in percent, or in points of a share.
func parseLimit(text string) (change float64, points, ok bool) {
	number, percent := strings.CutSuffix(text, "%")
	if !percent {
		if number, points = strings.CutSuffix(text, "pp"); !points {
			return 0, false, false
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n >= 0 && n < 1e6) {
		return 0, false, false
	}
	return n / 100, points, true
}
