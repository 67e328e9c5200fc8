package perfdata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/code/perfevent"
)

// judge puts into sentences what makes the samples incomplete or one-sided.
func (im *importer) judge() {
	if n := im.skipped[faultSize]; n > 0 {
		im.warnf("left out: %s of another size than the event says", term.Counted(n, "sample"))
	}
	if n := im.skipped[faultEvent]; n > 0 {
		im.warnf("left out: %s of no event of the file", term.Counted(n, "sample"))
	}
	if len(im.unknown) > 0 {
		im.warnf("%s", im.unknownText())
	}
	im.judgeLosses()
	im.judgeMultiplexing()
	im.judgeGroups()
	im.judgeEvents()
	im.judgeCallers()
	im.judgeTrace()
}

// judgeLosses tells of records that the kernel could not write.
func (im *importer) judgeLosses() {
	var lost, aux uint64
	var lostRecords, throttles, auxRecords int
	for i := range im.notes {
		n := &im.notes[i]
		switch n.Kind {
		case Lost:
			lost += n.N
			lostRecords++
		case Throttle:
			throttles++
		case AuxLost:
			aux += n.N
			auxRecords++
		}
	}
	if lost > 0 {
		im.warnf("the kernel lost %s at %s (ring buffer full): counts are too small there, see column lost; record with a larger buffer (-m)", term.Counted(lost, "record"), term.Counted(lostRecords, "time"))
	}
	if throttles > 0 {
		im.warnf("the kernel throttled sampling %s: counts are too small there, see column throttled; record with a larger period (-c)", term.Counted(throttles, "time"))
	}
	if auxRecords > 0 {
		im.warnf("the hardware trace was cut %s (buffer full): counts are too small there; record with a larger buffer (-m ,SIZE)", term.Counted(auxRecords, "time"))
	}
}

// judgeMultiplexing tells of events that shared a counter.
func (im *importer) judgeMultiplexing() {
	if im.rows.shared > 0 {
		im.warnf("the counter of %s was shared with other events (multiplexed): see column counting, the share of time it counted", term.Counted(im.rows.shared, "sample"))
	}
}

// judgeGroups tells of samples that are not those of an event here.
func (im *importer) judgeGroups() {
	if im.guests > 0 {
		im.warnf("left out, as perf does: %s of virtual machines, whose addresses mean nothing here", term.Counted(im.guests, "sample"))
	}
	if im.members > 0 {
		im.warnf("among the samples: %s of events that were read when the leader of their group was sampled (:S), with a period that is how far the counter moved, the rest is the leader's; choose one event to count each access once", term.Counted(im.members, "sample"))
	}
}

// judgeEvents tells of what each event leaves out by design.
func (im *importer) judgeEvents() {
	if im.microOps > 0 {
		im.warnf("%d of %d micro-ops that IBS sampled were memory operations; the others have no op, level and latency", im.memoryOps, im.microOps)
		if im.features.zen() == datasrc.AnyZen {
			im.warnf("the AMD family is not in the file: where the kernel did not decode it, what served an access is read with the doubts of Zen 3")
		}
	}
	if im.fetches.n > 0 {
		im.warnf("apart from the samples, in a table fetch: %s by IBS", term.Counted(im.fetches.n, "instruction fetch"))
	}
	for i, e := range im.events[:min(len(im.events), maxEventRows)] {
		if n := e.latencyThreshold(); n > 3 && im.rows.byEvent[i] > 0 {
			im.warnf("event %s samples only accesses of at least %d cycles: counts are biased to slow ones", e.Name, n)
		}
		if e.timer() && im.rows.byEvent[i] > 0 {
			im.warnf("samples of event %s stand for run time, not for accesses: they have no level and no latency", e.Name)
		}
	}
}

// latencyThreshold is the smallest latency the event samples, in cycles; 0 if
// there is none or it is not known.
func (e *eventAttr) latencyThreshold() int {
	switch {
	case strings.HasPrefix(e.PMU, "arm_spe"):
		return int(e.Config2 & 0xfff)
	case e.PMU != "" && e.PMU != "cpu" && !strings.HasPrefix(e.PMU, "cpu_"):
		return 0
	case e.Type != perfevent.TypeRaw && e.PMU == "":
		return 0
	}
	// MEM_TRANS_RETIRED.LOAD_LATENCY and its forms on Nehalem and Gracemont.
	if slices.Contains([]uint64{0x1cd, 0x100b, 0x5d0}, e.Config&0xffff) {
		return int(e.Config1 & 0xffff)
	}
	return 0
}

// timer reports whether the event fires by the clock.
func (e *eventAttr) timer() bool { return e.Type == perfevent.TypeSoftware && e.Config <= 1 }

// biasNote is what the latency column says about thresholds.
func (im *importer) biasNote() string {
	var parts []string
	for i, e := range im.events[:min(len(im.events), maxEventRows)] {
		if n := e.latencyThreshold(); n > 0 && im.rows.byEvent[i] > 0 {
			parts = append(parts, fmt.Sprintf("%s samples only accesses of at least %d cycles", e.Name, n))
		}
	}
	return strings.Join(parts, "; ")
}

// clock names the clock of the time column.
func (im *importer) clock() string {
	a := &im.events[0].Attr
	if a.Flags&perfevent.FlagUseClockID == 0 {
		return "the kernel's scheduling clock (perf's default)"
	}
	names := map[int32]string{0: "CLOCK_REALTIME", 1: "CLOCK_MONOTONIC", 4: "CLOCK_MONOTONIC_RAW", 7: "CLOCK_BOOTTIME", 11: "CLOCK_TAI"}
	if n, ok := names[a.ClockID]; ok {
		return n
	}
	return fmt.Sprintf("clock %d of the recording machine", a.ClockID)
}
