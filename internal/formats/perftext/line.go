package perftext

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/machine/hw"
)

// sample is what one line says. A field that the line does not have is not in
// has.
type sample struct {
	has               field
	time              uint64 // ns
	pid, tid, cpu     int64
	period            int64
	ip, addr, dataSrc uint64
	weights           [3]int64
	comm, event       string
	function, module  string
	object            string // symbol of the data address
	access            datasrc.Access
	coarse            bool // the time has six decimals
	frames            []frame
	manyWords         bool
}

// frame is a line of a call chain.
type frame struct {
	ip               uint64
	function, module string
}

type field uint16

const (
	hasTime field = 1 << iota
	hasPID
	hasTID
	hasCPU
	hasPeriod
	hasIP
	hasAddr
	hasDataSrc
	hasWeight
	hasInsLat
	hasRetireLat
	hasAccess
)

// certain reports whether the line can be nothing but a sample.
func (s *sample) certain() bool {
	return s.has&hasTime != 0 && s.event != "" && s.has&(hasTID|hasIP|hasAddr|hasDataSrc) != 0 || s.has&hasDataSrc != 0 && s.manyWords
}

// timeAnchor is what every other part of a line is found from: names of
// commands may hold blanks, digits and brackets.
var timeAnchor = regexp.MustCompile(`(?:^|\s)(\d{1,11})\.(\d{9}|\d{6}):(?:\s|$)`)

// parseLine reads a line of perf script.
func parseLine(line string) (*sample, bool) {
	s := &sample{}
	rest := line
	if at := timeAnchor.FindStringSubmatchIndex(line); at != nil {
		s.setTime(line[at[2]:at[3]], line[at[4]:at[5]])
		if !s.before(line[:at[0]]) {
			return nil, false
		}
		rest = line[at[5]+1:]
	}
	rest = s.takeEvent(rest)
	ok := false
	if bar := strings.IndexByte(rest, '|'); bar >= 0 && strings.Contains(rest, "|SNP") {
		ok = s.withWords(rest, bar)
	} else {
		ok = s.plain(rest)
	}
	return s, ok && (s.has != 0)
}

func (s *sample) setTime(whole, part string) {
	sec, err1 := strconv.ParseUint(whole, 10, 64)
	frac, err2 := strconv.ParseUint(part, 10, 64)
	if err1 != nil || err2 != nil || sec > 1<<33 {
		return
	}
	if len(part) == 6 {
		frac *= 1000
		s.coarse = true
	}
	s.time = sec*1e9 + frac
	s.has |= hasTime
}

// before reads what stands before the time: command, process, CPU.
func (s *sample) before(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasSuffix(text, "]") {
		at := strings.LastIndexByte(text, '[')
		if n, ok := parseNumber(strings.Trim(text[max(at, 0):], "[]")); at >= 0 && ok {
			s.cpu, text = n, strings.TrimSpace(text[:at])
			s.has |= hasCPU
		}
	}
	if text == "" {
		return true
	}
	at := strings.LastIndexFunc(text, unicode.IsSpace)
	word := text[at+1:]
	pid, tid, both := strings.Cut(word, "/")
	if !both {
		tid = pid
	}
	n, ok := thread(tid)
	if !ok {
		// Only a command, as -F comm,time gives it.
		s.comm = text
		return !strings.ContainsAny(text, "|{}<>")
	}
	s.tid = n
	s.has |= hasTID
	if both {
		if s.pid, ok = thread(pid); !ok {
			return false
		}
		s.has |= hasPID
	}
	s.comm = strings.TrimSpace(text[:max(at, 0)])
	return true
}

// takeEvent reads period and event, and returns what follows. The event is the
// first word that ends in a colon; it may hold colons itself.
func (s *sample) takeEvent(text string) string {
	trimmed := strings.TrimLeftFunc(text, unicode.IsSpace)
	word, rest, _ := cutSpace(trimmed)
	if n, ok := parseNumber(word); ok {
		next, after, _ := cutSpace(strings.TrimLeftFunc(rest, unicode.IsSpace))
		if !strings.HasSuffix(next, ":") && next != "raw" && next != "unknown" {
			return text
		}
		s.period = n
		s.has |= hasPeriod
		word, rest = next, after
	}
	// Events that the file does not name: "raw 0x1cd:", "unknown tracepoint:".
	if word == "raw" || word == "unknown" {
		next, after, _ := cutSpace(strings.TrimLeftFunc(rest, unicode.IsSpace))
		word, rest = word+" "+next, after
	}
	if len(word) < 2 || !strings.HasSuffix(word, ":") || strings.HasPrefix(word, "|") {
		return text
	}
	s.event = strings.TrimSuffix(word, ":")
	return rest
}

func cutSpace(s string) (word, rest string, found bool) {
	i := strings.IndexFunc(s, unicode.IsSpace)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i:], true
}

// withWords reads a line with data_src in words: what stands before the first
// bar is addresses and the number, what stands behind the last is weights and
// the instruction.
func (s *sample) withWords(text string, bar int) bool {
	words := strings.Fields(text[:bar])
	// Older perf leaves out the first words: "88000182 L1 miss|SNP …".
	level := ""
	for len(words) > 0 {
		last := words[len(words)-1]
		if v, ok := hexadecimal(last); ok && (level == "" || len(last) >= 6) {
			s.dataSrc = v
			s.has |= hasDataSrc
			words = words[:len(words)-1]
			break
		}
		level = strings.TrimSpace(last + " " + level)
		words = words[:len(words)-1]
	}
	if len(words) > 0 {
		if v, ok := hexadecimal(words[0]); ok {
			s.addr = v
			s.has |= hasAddr
			s.object = symbolOf(strings.Join(words[1:], " "))
		}
	}
	parts := strings.Split(text[bar:], "|")[1:]
	s.words(level, parts)
	s.manyWords = len(parts) >= 3
	last := strings.Fields(parts[len(parts)-1])
	for len(last) > 0 && !isNumber(last[0]) {
		last = last[1:]
	}
	return s.tail(last)
}

// tail reads weights, the instruction, its function and file.
func (s *sample) tail(words []string) bool {
	var numbers []string
	for len(words) > 0 {
		if _, ok := hexadecimal(words[0]); !ok {
			break
		}
		// A function may be spelt in hexadecimal digits: "add (prog)".
		if len(numbers) > 0 && len(words) > 1 && strings.HasPrefix(words[1], "(") && !decimal(words[0]) {
			break
		}
		numbers = append(numbers, words[0])
		words = words[1:]
		if !decimal(numbers[len(numbers)-1]) {
			break // weights are decimal, so this was the instruction
		}
	}
	if len(numbers) == 0 {
		return true
	}
	last := numbers[len(numbers)-1]
	if len(words) > 0 || !decimal(last) || len(last) > 9 {
		s.ip, _ = hexadecimal(last)
		s.has |= hasIP
		numbers = numbers[:len(numbers)-1]
	}
	s.name(strings.Join(words, " "))
	return s.weigh(numbers)
}

func (s *sample) weigh(numbers []string) bool {
	for i, text := range numbers {
		n, ok := parseNumber(text)
		if i == len(s.weights) || !ok {
			return false
		}
		s.weights[i] = n
		s.has |= hasWeight << i
	}
	return true
}

// name reads "function+0x12 (file)".
func (s *sample) name(text string) { s.function, s.module = codeName(text) }

func codeName(text string) (function, module string) {
	text = strings.TrimSpace(text)
	if strings.HasSuffix(text, ")") {
		if at := strings.LastIndex(text, "("); at >= 0 && (at == 0 || text[at-1] == ' ') {
			module = strings.TrimSuffix(text[at+1:], ")")
			text = strings.TrimSpace(text[:at])
		}
	}
	if module == "[unknown]" {
		module = ""
	} else if !strings.HasPrefix(module, "[") && module != "" {
		module = path.Base(module)
	}
	return symbolOf(text), module
}

// symbolOf strips the offset of a symbol, and what perf prints for none.
func symbolOf(text string) string {
	if at := strings.LastIndex(text, "+0x"); at > 0 {
		text = text[:at]
	}
	if text == "[unknown]" || text == "???" {
		return ""
	}
	return text
}

// twice is a data address with its own symbol and file, then the instruction
// with its.
var twice = regexp.MustCompile(`^([0-9a-f]{1,16}) (.*?) ?\(([^()]*)\)\s+([0-9a-f]{1,16})(?: (.*))?$`)

// plain reads a line without data_src: addresses and names.
func (s *sample) plain(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return s.event != "" && s.has&hasTime != 0
	}
	if m := twice.FindStringSubmatch(text); m != nil && len(m[4]) >= 6 {
		s.addr, _ = hexadecimal(m[1])
		s.ip, _ = hexadecimal(m[4])
		s.has |= hasAddr | hasIP
		s.object = symbolOf(m[2])
		s.name(m[5])
		return true
	}
	words := strings.Fields(text)
	first, ok := hexadecimal(words[0])
	if !ok {
		return s.event != "" // a tracepoint with its own text
	}
	if len(words) > 1 {
		// "addr ip …" or "weight ip …". Only the kind of event tells a small
		// address from a weight.
		if v, ok := hexadecimal(words[1]); ok && (len(words[1]) >= 6 || words[1] == "0") {
			if !decimal(words[0]) || words[0] == "0" || len(words[0]) > 7 || s.addressed() {
				s.addr, s.ip = first, v
				s.has |= hasAddr | hasIP
				s.name(strings.Join(words[2:], " "))
				return true
			}
		}
	}
	return s.tail(words)
}

// addressed reports whether samples of the event have an address before
// anything else.
func (s *sample) addressed() bool {
	return strings.HasPrefix(s.event, "mem:") || strings.Contains(s.event, "fault")
}

// parseNumber reads a decimal number.
// thread reads a process or thread; one that has exited is -1.
func thread(text string) (int64, bool) {
	if text == "-1" {
		return -1, true
	}
	return parseNumber(text)
}

func parseNumber(text string) (int64, bool) {
	if !decimal(text) {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func decimal(text string) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return text != ""
}

// hexadecimal reads a number as perf prints addresses: lowercase, no prefix.
func hexadecimal(text string) (uint64, bool) {
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(text, 16, 64)
	return n, err == nil
}

func isNumber(text string) bool {
	_, ok := hexadecimal(text)
	return ok
}

var (
	levelWords = map[string]hw.Level{"L1": hw.L1, "LFB": hw.LFB, "LFB/MAB": hw.LFB, "L2": hw.L2, "L3": hw.L3, "L4": hw.L4, "Local RAM": hw.LocalRAM,
		"RAM": hw.LocalRAM, "Remote RAM (1 hop)": hw.RemoteRAM, "Remote RAM (2 hops)": hw.RemoteRAM, "Remote Cache (1 hop)": hw.RemoteCache,
		"Remote Cache (2 hops)": hw.RemoteCache, "I/O": hw.IO, "Uncached": hw.Uncached, "PMEM": hw.PMEM, "CXL": hw.CXL}
	opWords = map[string]datasrc.Op{"LOAD": datasrc.Load, "STORE": datasrc.Store, "PFETCH": datasrc.Prefetch, "EXEC": datasrc.Exec}
)

// words takes what the texts say, for lines that lack the number.
func (s *sample) words(level string, parts []string) {
	if s.has&hasDataSrc != 0 {
		s.access = datasrc.Perf(s.dataSrc)
		s.has |= hasAccess
		return
	}
	for _, p := range append([]string{"LVL " + level}, parts...) {
		key, value, _ := strings.Cut(strings.TrimSpace(p), " ")
		value = strings.TrimSpace(value)
		switch key {
		case "OP":
			s.access.Op = opWords[value]
		case "LVL":
			s.levelOf(value)
		case "SNP":
			s.access.ReadWords(value, "")
		case "TLB":
			s.access.ReadWords("", value)
		case "LCK":
			s.access.Lock = map[string]datasrc.Lock{"Yes": datasrc.Locked, "No": datasrc.Unlocked}[value]
		}
	}
	if s.access != (datasrc.Access{}) {
		s.has |= hasAccess
	}
}

// levelOf reads "L3 or L3 hit": of two names the last is the more exact.
func (s *sample) levelOf(text string) {
	if at := strings.LastIndex(text, " or "); at >= 0 {
		text = text[at+len(" or "):]
	}
	name, miss := strings.CutSuffix(text, " miss")
	name = strings.TrimSuffix(name, " hit")
	level, ok := levelWords[name]
	if !ok {
		return
	}
	s.access.Level, s.access.Hit = level, datasrc.HitLevel
	if miss {
		s.access.Level, s.access.Hit = datasrc.Beyond(level), datasrc.Miss
	}
	if strings.Contains(name, "1 hop") {
		s.access.Hops = hw.OneHop
	} else if strings.Contains(name, "2 hops") {
		s.access.Hops = hw.TwoHops
	}
}
