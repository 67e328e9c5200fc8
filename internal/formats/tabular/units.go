package tabular

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// inNanoseconds is how long a unit of time is.
var inNanoseconds = map[string]float64{
	"ns": 1, "nsec": 1, "nanoseconds": 1,
	"us": 1e3, "usec": 1e3, "µs": 1e3, "microseconds": 1e3,
	"ms": 1e6, "msec": 1e6, "milliseconds": 1e6,
	"s": 1e9, "sec": 1e9, "secs": 1e9, "seconds": 1e9,
}

// unitInName is a unit at the end of a column's name: t_us, time (ms), t[s].
var unitInName = regexp.MustCompile(`(?i)[_ .(\[]([a-zµ]+)[)\]]?$`)

// inUnit brings a column into the unit that the canonical one has. Only times
// are converted; of other columns the unit is kept beside the values. It says
// what it guessed.
func inUnit(c *table.Column, field samples.Field, from source) (*table.Column, string, error) {
	if field.Kind != table.Time {
		out, said := *c, ""
		switch {
		case from.unit != "":
			out.Unit = from.unit
		case field.Name == samples.Latency && c.Unit == "" && c.Provenance == table.Unknown:
			out.Unit, said = latencyUnit(from)
		}
		return &out, said, nil
	}
	if c.Kind == table.Category {
		return c, "", nil // words have no unit: whoever converts the column says so
	}
	factor, said, err := timeFactor(c, from)
	if err != nil || factor == 1 {
		return c, said, err
	}
	return scaled(c, factor), said, nil
}

// ofLatency are units of latencies at the end of a name.
var ofLatency = map[string]string{"cycles": samples.Cycles, "cycle": samples.Cycles, "cyc": samples.Cycles, "clk": samples.Cycles, "clocks": samples.Cycles,
	"ns": samples.Nanoseconds, "nsec": samples.Nanoseconds, "us": "us", "usec": "us", "ticks": "ticks"}

// latencyUnit is what the name of a column says of its unit: perf's weights are cycles.
// One that says nothing has none: the numbers are shown, and called latency.
func latencyUnit(from source) (unit, said string) {
	if folded, _ := foldName(from.file); folded == "localweight" {
		return samples.Cycles, ""
	}
	how := fmt.Sprintf("--map %s", shellWord(samples.Latency+"="+from.file+":UNIT"))
	if m := unitInName.FindStringSubmatch(from.file); m != nil && ofLatency[strings.ToLower(m[1])] != "" {
		unit = ofLatency[strings.ToLower(m[1])]
		return unit, fmt.Sprintf("%s: read in %s, as its name %q ends; say otherwise with %s", samples.Latency, unit, from.file, how)
	}
	return "", fmt.Sprintf("%s: the file does not say its unit, so none is shown; give it with %s", samples.Latency, how)
}

// timeFactor is how many nanoseconds a value of a time column stands for: as
// the user says, as its name ends, or seconds where values have fractions,
// which nanoseconds would lose.
func timeFactor(c *table.Column, from source) (float64, string, error) {
	unit := strings.ToLower(from.unit)
	if factor, ok := inNanoseconds[unit]; ok {
		return factor, "", nil
	}
	if unit != "" {
		return 0, "", fmt.Errorf("--map %s=%s:%s: %q is no unit of time; want ns, us, ms or s", c.Name, from.file, from.unit, from.unit)
	}
	if c.Unit != "" || c.Provenance != table.Unknown {
		return 1, "", nil // the file says it
	}
	how := fmt.Sprintf("say otherwise with --map %s=%s:UNIT", c.Name, from.file)
	if m := unitInName.FindStringSubmatch(from.file); m != nil {
		if factor, ok := inNanoseconds[strings.ToLower(m[1])]; ok && factor != 1 {
			return factor, fmt.Sprintf("%s: read in %s, as its name %q ends; %s", c.Name, m[1], from.file, how), nil
		}
	}
	if fractions(c) {
		return 1e9, fmt.Sprintf("%s: column %q has fractions and no unit, so it is read in seconds; %s", c.Name, from.file, how), nil
	}
	return 1, "", nil
}

func fractions(c *table.Column) bool {
	values, ok := c.Data.([]float64)
	if !ok {
		return false
	}
	for i, v := range values {
		if c.Has(i) && v != math.Trunc(v) {
			return true
		}
	}
	return false
}

// scaled returns the values times a factor, rounded to whole nanoseconds.
func scaled(c *table.Column, factor float64) *table.Column {
	values := make([]float64, c.Len())
	for i := range values {
		if c.Has(i) {
			values[i] = math.Round(c.Float(i) * factor)
		}
	}
	out := table.Floats(c.Name, "", c.Provenance, values, c.Valid)
	out.Note = c.Note
	return out
}
