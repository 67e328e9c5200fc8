package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
)

// Server is one ClickHouse server, or a cluster of them, that keeps runs.
type Server struct {
	address *Address
	entry   *client
	shards  []*client // one a shard; the first also keeps the list of runs
}

// Dial connects to a server and finds the shards of the cluster.
func Dial(ctx context.Context, a *Address) (*Server, error) {
	c, err := newClient(a)
	if err != nil {
		return nil, err
	}
	s := &Server{address: a, entry: c, shards: []*client{c}}
	if a.Cluster == "" {
		// Says early whether server, user and database are there.
		err = c.do(ctx, "SELECT 1")
	} else {
		err = s.findShards(ctx)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return s, nil
}

// Close gives the connections back.
func (s *Server) Close() { s.entry.close() }

// String is the address as it may be shown.
func (s *Server) String() string { return s.address.String() }

func (s *Server) findShards(ctx context.Context) error {
	b, err := s.entry.query(ctx, "SELECT toUInt32(shard_num), toString(host_address), toString(host_name), toUInt32(port) FROM system.clusters WHERE cluster = "+quote(s.address.Cluster)+
		" ORDER BY shard_num, replica_num")
	if err != nil {
		return err
	}
	if b.rows == 0 {
		return fmt.Errorf("%s knows no cluster %q; 'SELECT cluster FROM system.clusters' lists those it knows", s.address.Host, s.address.Cluster)
	}
	numbers, addresses, names, ports := texts[uint32](b, 0), texts[string](b, 1), texts[string](b, 2), texts[uint32](b, 3)
	s.shards = nil
	for i := range numbers {
		if i > 0 && numbers[i] == numbers[i-1] {
			continue // another replica of the same rows
		}
		host := net.JoinHostPort(cmp.Or(addresses[i], names[i]), strconv.Itoa(int(ports[i])))
		s.shards = append(s.shards, s.entry.at(host))
	}
	return nil
}

func texts[T any](b *block, i int) []T {
	d, _ := b.columns[i].data.([]T)
	return d
}

// quote writes a text as SQL.
func quote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\x00", `\0`).Replace(s) + "'"
}

// from is SQL for a table on all shards, or on the only server.
func (s *Server) from(cluster, name string) string {
	if cluster == "" {
		return s.address.Database + "." + name
	}
	return fmt.Sprintf("cluster(%s, %s, %s)", quote(cluster), quote(s.address.Database), quote(name))
}

const runsTable = "isobath_runs"

// The states of an entry in the list of runs; the newest of an attempt counts.
const (
	started   = "started"
	committed = "committed"
	removing  = "removing"
	removed   = "removed"
)

// entry is a row of the list of runs.
type entry struct {
	run, attempt, state, document string
	written                       int64 // nanoseconds since 1970
}

// createRuns makes the list of runs where it is not.
func (s *Server) createRuns(ctx context.Context) error {
	return s.everywhere(ctx, "CREATE TABLE IF NOT EXISTS "+runsTable+
		" (run String, attempt String, state String, written Int64, document String) ENGINE = MergeTree ORDER BY (run, attempt, written)")
}

// everywhere runs a statement on every shard. There is no ON CLUSTER in it: that
// needs ZooKeeper, which small clusters do without.
func (s *Server) everywhere(ctx context.Context, sql string) error {
	return parallel.Each(ctx, len(s.shards), func(ctx context.Context, _, i int) error { return s.shards[i].do(ctx, sql) })
}

// put adds an entry to the list of runs. One row on one server: it is there or
// not.
func (s *Server) put(ctx context.Context, e entry) error {
	return s.shards[0].insert(ctx, runsTable, &block{rows: 1, columns: []column{
		{"run", []string{e.run}}, {"attempt", []string{e.attempt}}, {"state", []string{e.state}},
		{"written", []int64{time.Now().UnixNano()}}, {"document", []string{e.document}},
	}})
}

// entries returns the newest entry of each attempt; of one run, or of all.
func (s *Server) entries(ctx context.Context, run string) ([]entry, error) {
	where := ""
	if run != "" {
		where = " WHERE run = " + quote(run)
	}
	sql := "SELECT run, attempt, state, written, document FROM " + s.from(s.address.Cluster, runsTable) + where + " ORDER BY run, attempt, written"
	b, err := s.entry.query(ctx, sql)
	var refused *serverError
	if errors.As(err, &refused) && refused.Code == 60 && refused.Server == s.entry.host { // nothing was ever stored here
		return nil, nil
	}
	if err != nil || b.rows == 0 {
		return nil, err
	}
	runs, attempts, states, documents := texts[string](b, 0), texts[string](b, 1), texts[string](b, 2), texts[string](b, 4)
	written := texts[int64](b, 3)
	var out []entry
	for i := range runs {
		e := entry{runs[i], attempts[i], states[i], documents[i], written[i]}
		if n := len(out); n > 0 && out[n-1].attempt == e.attempt {
			out[n-1] = e
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

// newest returns the entry of a run as it was last committed; nil if there is none.
func (s *Server) newest(ctx context.Context, run string) (*entry, error) {
	all, err := s.entries(ctx, run)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return e.state != committed })
	if len(all) == 0 {
		return nil, nil
	}
	newest := slices.MaxFunc(all, func(a, b entry) int { return cmp.Compare(a.written, b.written) })
	return &newest, nil
}

// find returns the run of a name; nil if there is none.
func (s *Server) find(ctx context.Context, run string) (*document, error) {
	e, err := s.newest(ctx, run)
	if err != nil || e == nil {
		return nil, err
	}
	return parseDocument(e.document)
}

// left explains why tables of an opened run are missing; nil if the list of runs
// does not know.
func (s *Server) left(ctx context.Context, d *document) error {
	now, err := s.newest(ctx, d.Run)
	if err != nil || now != nil && now.attempt == d.Attempt {
		return nil
	}
	if now == nil {
		return &leftError{d.Run, fmt.Sprintf("was removed from %s after it was opened here; import it again and open it anew", s)}
	}
	at := time.Unix(0, now.written).UTC().Format(time.DateTime) + " UTC"
	var newer *newerError
	if _, err := parseDocument(now.document); errors.As(err, &newer) {
		return &leftError{d.Run, fmt.Sprintf("was replaced at %s, after it was opened here, by a newer isobath: it has schema %d, and this program knows %d; open it with a newer isobath", at, newer.schema, schemaVersion)}
	}
	return &leftError{d.Run, fmt.Sprintf("was replaced at %s, after it was opened here; open it again to see the new one", at)}
}

// Entry is one run in the list.
type Entry struct {
	Run      string    `json:"run"`
	State    string    `json:"state"` // committed; others began and did not end
	Rows     int       `json:"rows"`
	Shards   int       `json:"shards"`
	Columns  int       `json:"columns"`
	Written  time.Time `json:"written"`
	Host     string    `json:"host,omitempty"`
	Problems []string  `json:"problems,omitempty"`
}

// List returns the runs that are kept.
func (s *Server) List(ctx context.Context) ([]Entry, error) {
	all, err := s.entries(ctx, "")
	if err != nil {
		return nil, err
	}
	out := []Entry{}
	for _, e := range all {
		if e.state == removed {
			continue
		}
		o := Entry{Run: e.run, State: e.state, Written: time.Unix(0, e.written).UTC()}
		if e.state == committed {
			d, err := parseDocument(e.document)
			if err != nil {
				o.Problems = append(o.Problems, err.Error())
			} else {
				o.Rows, o.Shards, o.Columns, o.Host = d.Rows, d.Shards, len(d.Columns), d.Manifest.Origin.Host
			}
		}
		out = append(out, o)
	}
	return out, nil
}

// Check is List that counts the rows of every run on the shards.
func (s *Server) Check(ctx context.Context) ([]Entry, error) {
	all, err := s.entries(ctx, "")
	if err != nil {
		return nil, err
	}
	listed, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return e.state == removed })
	for i, e := range all {
		if e.state != committed {
			listed[i].Problems = append(listed[i].Problems, "it was only "+e.state+"; import it again, or remove it")
			continue
		}
		d, err := parseDocument(e.document)
		if err != nil {
			continue // said by List
		}
		if err := s.checkRows(ctx, d); err != nil {
			listed[i].Problems = append(listed[i].Problems, err.Error())
		}
	}
	return listed, nil
}

// checkRows counts: every row number once.
func (s *Server) checkRows(ctx context.Context, d *document) error {
	b, err := s.entry.query(ctx, "SELECT count(), uniqExact(r) FROM "+s.from(d.Cluster, d.rowTable()))
	if err != nil {
		return err
	}
	rows, numbers := texts[uint64](b, 0), texts[uint64](b, 1)
	if len(rows) != 1 || len(numbers) != 1 || rows[0] != uint64(d.Rows) || numbers[0] != rows[0] {
		return fmt.Errorf("the shards hold %v rows with %v numbers, the list says %d; import it again with --force", rows, numbers, d.Rows)
	}
	return nil
}

// Remove removes a run: first from the list, so that nobody opens what is being
// taken away.
func (s *Server) Remove(ctx context.Context, run string) error {
	all, err := s.entries(ctx, run)
	if err != nil {
		return err
	}
	found := false
	for _, e := range all {
		if e.state == removed {
			continue
		}
		found = true
		if err := s.drop(ctx, e); err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("no run %q is kept at %s; 'isobath engine ls' lists those that are", run, s)
	}
	return nil
}

// drop removes an attempt and its tables.
func (s *Server) drop(ctx context.Context, e entry) error {
	if !word.MatchString(e.attempt) {
		return fmt.Errorf("run %s: its entry in the list of runs is damaged", e.run)
	}
	if e.state == committed {
		if err := s.put(ctx, entry{run: e.run, attempt: e.attempt, state: removing}); err != nil {
			return err
		}
	}
	d := &document{Attempt: e.attempt}
	for _, name := range []string{d.rowTable(), d.pieceTable()} {
		if err := s.everywhere(ctx, "DROP TABLE IF EXISTS "+name); err != nil {
			return err
		}
	}
	return s.put(ctx, entry{run: e.run, attempt: e.attempt, state: removed})
}
