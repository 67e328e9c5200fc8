package tabular

import (
	"cmp"
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
	"us": 1e3, "usec": 1e3, "µs": 1e3, "μs": 1e3, "microseconds": 1e3,
	"ms": 1e6, "msec": 1e6, "milliseconds": 1e6,
	"s": 1e9, "sec": 1e9, "secs": 1e9, "seconds": 1e9,
}

// unitBehind, after and camel are a unit at the end of a column's name: time (ms),
// t[s]; t_us, latency in ns; latencyNs.
var (
	unitBehind = regexp.MustCompile(`^(.*?)\s*[(\[]([^()\[\]]+)[)\]]$`)
	unitAfter  = regexp.MustCompile(`^(.*?[^_ ./-])[_ ./-]+(?:[iI][nN][_ ./-]+)?([a-zA-Zµμ]+)$`)
	unitCamel  = regexp.MustCompile(`^(.*[a-z0-9])([A-Z][a-z]+|[A-Z]{2})$`)
)

// splitUnit returns a name without the unit that it ends in, and the unit; without
// brackets only one that is known.
func splitUnit(name string) (stem, unit string, brackets bool) {
	name = strings.TrimSpace(name)
	if m := unitBehind.FindStringSubmatch(name); m != nil {
		return m[1], m[2], true
	}
	for _, form := range []*regexp.Regexp{unitAfter, unitCamel} {
		if m := form.FindStringSubmatch(name); m != nil && isUnit(m[2]) {
			return m[1], m[2], false
		}
	}
	return name, "", false
}

func isUnit(word string) bool {
	word = strings.ToLower(word)
	_, time := inNanoseconds[word]
	return time || ofLatency[word] != "" || ofSize[word] != ""
}

// unitOf is how a unit is written that values of a canonical column may have; empty if
// they have not.
func unitOf(as, unit string) string {
	field, _ := samples.Lookup(as)
	unit = strings.ToLower(unit)
	switch {
	case field.Kind == table.Time && inNanoseconds[unit] != 0:
		return unit
	case as == samples.Latency:
		return ofLatency[unit]
	case as == samples.Weight:
		return cmp.Or(ofLatency[unit], ofSize[unit])
	case as == samples.Width:
		return ofSize[unit]
	}
	return ""
}

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

// ofLatency are units of latencies, as they are written here; ofSize those of sizes.
var (
	ofLatency = map[string]string{"cycles": samples.Cycles, "cycle": samples.Cycles, "cyc": samples.Cycles, "clk": samples.Cycles, "clks": samples.Cycles, "clocks": samples.Cycles, "ticks": "ticks",
		"ns": samples.Nanoseconds, "nsec": samples.Nanoseconds, "nanoseconds": samples.Nanoseconds,
		"us": "us", "usec": "us", "µs": "us", "μs": "us", "microseconds": "us", "ms": "ms", "msec": "ms", "milliseconds": "ms", "s": "s", "sec": "s", "secs": "s", "seconds": "s"}
	ofSize = map[string]string{"b": samples.Bytes, "byte": samples.Bytes, "bytes": samples.Bytes}
)

// latencyUnit is what the name of a column says of its unit: perf's weights are cycles.
// One that says nothing has none: the numbers are shown, and called latency.
func latencyUnit(from source) (unit, said string) {
	if foldName(from.file) == "localweight" {
		return samples.Cycles, ""
	}
	how := fmt.Sprintf("--map %s", shellWord(samples.Latency+"="+from.file+":UNIT"))
	_, unit, _ = splitUnit(from.file)
	if unit = unitOf(samples.Latency, unit); unit != "" {
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
	if _, unit, _ := splitUnit(from.file); unit != "" {
		if factor, ok := inNanoseconds[strings.ToLower(unit)]; ok && factor != 1 {
			return factor, fmt.Sprintf("%s: read in %s, as its name %q ends; %s", c.Name, unit, from.file, how), nil
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
