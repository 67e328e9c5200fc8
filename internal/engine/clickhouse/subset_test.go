package clickhouse

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
)

// The SQL that Debian's 18.16 and current releases understand alike, as far as the
// engine needs it. TestNewer asks a current release everything below; what is not in
// the list was not seen there. So every statement of every test is held against it.
var (
	subsetFunctions = strings.Fields(`
		arrayElement arrayJoin bitAnd bitShiftRight cluster concat count countIf hex if intDiv lower match max maxIf min minIf
		quantilesExact quantilesExactIf replaceRegexpOne sum sumIf toFloat64 toInt32 toInt64 toString toUInt16 toUInt32 toUInt64
		toUInt8 uniqExact uniqExactIf`)
	subsetWords = strings.Fields(`
		SELECT FROM WHERE PREWHERE AND OR IN NOT AS GROUP BY ORDER DESC LIMIT FORMAT INSERT INTO CREATE DROP TABLE IF EXISTS ENGINE
		UInt8 UInt16 UInt32 UInt64 Int32 Int64 Float64 String MergeTree Native`)
	// Columns, keys of groups and tables have small letters and numbers; as numbers of
	// floats, inf and nan are words.
	subsetNames = regexp.MustCompile(`^(r|place|cell|slice|left|seen|inf|nan|[a-z]\d*|k\d+|run|attempt|state|written|document|name|part|body|default|system|clusters|cluster|isobath_\w+|shard_num|replica_num|host_address|host_name|port)$`)
)

// token is a text, a number, a word or a sign.
var token = regexp.MustCompile(`'(?:\\.|[^'\\])*'|[0-9][0-9.]*(?:e[+-]?[0-9]+)?|[A-Za-z_]\w*|\S`)

// beyondSubset says what a statement has that is not in the subset.
func beyondSubset(sql string) []string {
	var out []string
	all := token.FindAllString(sql, -1)
	for i, word := range all {
		next := ""
		if i+1 < len(all) {
			next = all[i+1]
		}
		switch {
		case word[0] == '\'' || word[0] >= '0' && word[0] <= '9':
		case word == "NOT" && next != "IN" && next != "EXISTS": // of a condition it is simplified on one side of a cluster only
			out = append(out, "NOT "+next)
		case slices.Contains(subsetWords, word):
		case word[0] == '_' || word[0] >= 'A' && word[0] <= 'z' && word[0] != '[' && word[0] != ']':
			known := subsetNames.MatchString(word)
			if next == "(" && !strings.HasPrefix(word, "isobath_") { // of a table they are its columns
				known = slices.Contains(subsetFunctions, word)
			}
			if !known {
				out = append(out, word+" "+next)
			}
		case !strings.Contains("()[],.=<>!+-*", word):
			out = append(out, word)
		}
	}
	return out
}

// understood holds every statement that is sent against the subset.
type understood struct {
	http.RoundTripper
	t testing.TB
}

func (u *understood) RoundTrip(r *http.Request) (*http.Response, error) {
	sql := r.URL.Query().Get("query")
	if sql == "" && r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.Body, sql = io.NopCloser(bytes.NewReader(body)), string(body)
	}
	own := strings.Contains(sql, "sleepEachRow") // the tests', which make a server slow
	if more := beyondSubset(sql); more != nil && !own {
		u.t.Errorf("not in the subset of SQL: %q in %.2000s", more, sql)
	}
	return u.RoundTripper.RoundTrip(r)
}

func TestSubset(t *testing.T) {
	for sql, want := range map[string][]string{
		"SELECT count() FROM default.isobath_00ff_rows WHERE ((c1 >= 1.5e-07) = 0) AND place NOT IN (1, 2) FORMAT Native": nil,
		`SELECT match(toString(c3), 'it\'s EXPLAIN(') FROM cluster('shards', 'default', 'isobath_1_rows') LIMIT 3, 4`:     nil,
		"SELECT arrayElement(quantilesExactIf(0.5, 0.9)(c1, (p1 AND 1)) AS q0, 1) FROM isobath_1_rows":                    nil,
		"SELECT widthBucket(c1, 0, 1, 10) FROM isobath_1_rows":                                                            {"widthBucket ("},
		"SELECT count() FROM isobath_1_rows GROUP BY GROUPING SETS ((c1), (c2))":                                          {"GROUPING SETS", "SETS ("},
		"SELECT sum(c1) OVER (PARTITION BY c2) FROM isobath_1_rows":                                                       {"OVER (", "PARTITION BY"},
		"EXPLAIN SELECT 1": {"EXPLAIN SELECT"},
		"SELECT c1 FROM isobath_1_rows WHERE NOT (c1 = 2)":       {"NOT ("},
		"SELECT c1 % 2 FROM isobath_1_rows":                      {"%"},
		"SELECT c1 FROM isobath_1_rows SETTINGS max_threads = 1": {"SETTINGS max_threads", "max_threads ="},
	} {
		if got := beyondSubset(sql); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// TestNewer asks a current release what TestConformance and the others ask 18.16, if
// there is one: make clickhouse-newer.
func TestNewer(t *testing.T) {
	s := dial(t, fmt.Sprintf("clickhouse://%s/default", clickhousetest.StartNewer(t)))
	checkConformance(t, s)
	checkDistant(t, s)
	checkCondense(t, s)
	checkInRows(t, s)
	checkWholeKept(t, s)
	checkDragBeyondCube(t, s)
}
