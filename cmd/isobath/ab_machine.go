package main

import (
	"os"
	"strconv"
	"strings"
)

// What follows reads what Linux says about how busy it is; elsewhere nothing is
// known, and nothing is said.

// loadAverage is the mean number of runnable processes of the last minute.
func loadAverage() *float64 {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return nil
	}
	word, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return nil
	}
	return &load
}

// cpuTimes are the times of all CPUs by what they did, in ticks.
func cpuTimes() []float64 {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return nil
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var out []float64
	for _, word := range strings.Fields(strings.TrimPrefix(line, "cpu")) {
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// stolen is the share of time that other guests of the machine had.
func stolen(before, after []float64) *float64 {
	const steal, guest = 7, 8 // columns of /proc/stat; guest time is counted as user time too
	if len(before) <= steal || len(after) != len(before) {
		return nil
	}
	all := 0.0
	for i := range min(guest, len(after)) {
		all += after[i] - before[i]
	}
	if all <= 0 {
		return nil
	}
	share := (after[steal] - before[steal]) / all
	return &share
}

// governor is how the first CPU chooses its clock; empty if not known.
func governor() string {
	text, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
