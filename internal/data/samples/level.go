package samples

import (
	"regexp"
	"strings"
)

// What served an access, as the level column spells it. hw.Level gives them
// their order and places them on a machine.
const (
	L1             = "L1"
	LFB            = "LFB" // line fill buffer: the line was already on its way
	L2             = "L2"
	L3             = "L3"
	L4             = "L4"
	LocalPeerCache = "Local Peer Cache"
	MSC            = "MSC" // memory-side cache
	LocalRAM       = "Local RAM"
	RemoteCache    = "Remote Cache"
	RemoteRAM      = "Remote RAM"
	PMEM           = "PMEM"
	CXL            = "CXL"
	BeyondL1       = "Beyond L1" // missed L1, served somewhere beyond
	BeyondL2       = "Beyond L2"
	BeyondL3       = "Beyond L3"
	IO             = "I/O"
	Uncached       = "Uncached"
	UnknownLevel   = "Unknown" // the hardware said it does not know
)

// levelWords are the words that tools and people use for levels, in lower case
// and without spaces, hyphens, underscores and slashes.
var levelWords = map[string]string{
	"l1": L1, "l1d": L1, "l1hit": L1, "l1cache": L1, "level1": L1,
	"lfb": LFB, "mab": LFB, "fillbuffer": LFB, "linefillbuffer": LFB, "lfbmab": LFB, "lfbmabhit": LFB,
	"l2": L2, "l2hit": L2, "l2cache": L2, "level2": L2,
	"l3": L3, "l3hit": L3, "l3cache": L3, "level3": L3, "llc": L3, "llchit": L3, "lastlevelcache": L3,
	"l4": L4, "l4hit": L4, "level4": L4,
	"localpeercache": LocalPeerCache, "peercache": LocalPeerCache,
	"msc": MSC, "memorysidecache": MSC,
	"localram": LocalRAM, "ram": LocalRAM, "dram": LocalRAM, "localdram": LocalRAM, "mem": LocalRAM, "memory": LocalRAM,
	"localmem": LocalRAM, "localmemory": LocalRAM, "mainmemory": LocalRAM, "ramhit": LocalRAM, "lmem": LocalRAM,
	"remotecache": RemoteCache, "remotehitm": RemoteCache, "remotellc": RemoteCache, "remotel3": RemoteCache,
	"remoteram": RemoteRAM, "remotedram": RemoteRAM, "remotemem": RemoteRAM, "remotememory": RemoteRAM, "rmem": RemoteRAM,
	"pmem": PMEM, "persistentmemory": PMEM, "nvdimm": PMEM,
	"cxl":      CXL,
	"beyondl1": BeyondL1, "l1miss": BeyondL1, "beyondl2": BeyondL2, "l2miss": BeyondL2,
	"beyondl3": BeyondL3, "l3miss": BeyondL3, "llcmiss": BeyondL3,
	"io": IO, "mmio": IO,
	"uncached": Uncached, "uc": Uncached,
	"unknown": UnknownLevel, "na": UnknownLevel,
}

// hops are how far another node is, behind the name of a level.
var hops = regexp.MustCompile(`\s*\(\d+ hops?\)`)

// LevelOf returns the level that a word of any tool means, as the level column
// spells it; false where it means none that is known. "Local RAM or RAM hit",
// as perf has it, is one level said twice.
func LevelOf(word string) (string, bool) {
	word = hops.ReplaceAllString(strings.ToLower(strings.TrimSpace(word)), "")
	if level, ok := levelWords[foldLevel(word)]; ok {
		return level, true
	}
	word = strings.TrimSuffix(word, " hit")
	found := ""
	for part := range strings.SplitSeq(word, " or ") {
		level, ok := levelWords[foldLevel(part)]
		if !ok || found != "" && level != found {
			return "", false
		}
		found = level
	}
	return found, true
}

func foldLevel(word string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "", "/", "", ".", "").Replace(word)
}
