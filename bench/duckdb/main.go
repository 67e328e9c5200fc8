// Duckdb asks DuckDB the questions of a full screen, about the same rows as our
// kernel, side by side, and prints bench lines. It is a module of its own
// because DuckDB needs cgo and the main module stays pure Go.
package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
)

func main() {
	rows := flag.Int("rows", 10_000_000, "number of samples")
	flag.Parse()
	if err := run(context.Background(), *rows); err != nil {
		fmt.Fprintf(os.Stderr, "duckdb: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, rows int) error {
	t := synth.Samples(rows)
	e := kernel.New(query.Data{Table: t}, kernel.Options{})
	defer e.Close()
	db, err := load(ctx, t)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, permille := range []int{1000, 100} {
		if err := compare(ctx, e, db, rows, permille); err != nil {
			return err
		}
	}
	return nil
}

// compare times both in turns and prints the least time of each. DuckDB answers
// for the selection alone: hover and everything would each be the same again.
func compare(ctx context.Context, e *kernel.Engine, db *sql.DB, rows, permille int) error {
	var ours, peer time.Duration
	for i := range 5 {
		r := synth.Selection(permille, i)
		for _, q := range []*query.Request{synth.Unrelated(i), r} {
			start := time.Now()
			a, err := e.Answer(ctx, q)
			if err != nil {
				return err
			}
			if q == r {
				ours = least(ours, time.Since(start))
				if err := check(ctx, db, permille, i, a); err != nil {
					return err
				}
			}
		}
		start := time.Now()
		if err := screen(ctx, db, synth.Bounds(permille, i)); err != nil {
			return err
		}
		peer = least(peer, time.Since(start))
	}
	ratio := float64(peer) / float64(ours)
	verdict := "short"
	if ratio >= 8 {
		verdict = "ok"
	}
	fmt.Printf("bench duckdb-%dM-%d%% ours=%.4gms peer=%.4gms ratio=%.3g bar=>=8 %s\n", rows/1_000_000, permille/10,
		float64(ours.Microseconds())/1000, float64(peer.Microseconds())/1000, ratio, verdict)
	return nil
}

func least(a, b time.Duration) time.Duration {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// check compares a count, so that both are known to look at the same rows.
func check(ctx context.Context, db *sql.DB, permille, i int, a *query.Answer) error {
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM s WHERE "+where(synth.Bounds(permille, i))).Scan(&n); err != nil {
		return err
	}
	if n != a.Counts[query.Selected] {
		return fmt.Errorf("DuckDB selects %d rows, the kernel %d", n, a.Counts[query.Selected])
	}
	return nil
}

func where(b [2]int) string { return fmt.Sprintf("chance >= %d AND chance < %d", b[0], b[1]) }

// screen runs a query for each pair, histogram and sum, as an engine over SQL
// would; the bins are columns already.
func screen(ctx context.Context, db *sql.DB, b [2]int) error {
	var queries []string
	for i := range synth.Axes {
		queries = append(queries, fmt.Sprintf("SELECT a%d, count(*) FROM s WHERE %s GROUP BY 1", i, where(b)))
		if i > 0 {
			queries = append(queries, fmt.Sprintf("SELECT a%d, a%d, count(*) FROM s WHERE %s GROUP BY 1, 2", i-1, i, where(b)))
		}
	}
	for i := range synth.Groups {
		queries = append(queries, fmt.Sprintf("SELECT g%d, count(*), sum(latency), sum(latency * latency) FROM s WHERE %s GROUP BY 1", i, where(b)))
	}
	for _, q := range queries {
		if err := drain(ctx, db, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

func drain(ctx context.Context, db *sql.DB, q string) error {
	rows, err := db.QueryContext(ctx, q)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

// load makes a table of the bins of every axis, the groups, and what is selected
// by and summed.
func load(ctx context.Context, t *table.Table) (*sql.DB, error) {
	connector, err := duckdb.NewConnector("", nil)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	var fields []string
	var columns []func(row int) driver.Value
	for i, axis := range synth.Axes {
		b, err := query.Bin(t.Column(axis.Column), axis)
		if err != nil {
			return nil, err
		}
		fields = append(fields, fmt.Sprintf("a%d UTINYINT", i))
		columns = append(columns, func(row int) driver.Value { return uint8(b.Of(row)) })
	}
	for i, g := range synth.Groups {
		c := t.Column(g.By[0])
		fields = append(fields, fmt.Sprintf("g%d USMALLINT", i))
		columns = append(columns, func(row int) driver.Value { return uint16(c.Float(row)) })
	}
	for _, name := range []string{"latency", "chance"} {
		c := t.Column(name)
		fields = append(fields, name+" INTEGER")
		columns = append(columns, func(row int) driver.Value { return int32(c.Float(row)) })
	}
	if _, err := db.ExecContext(ctx, "CREATE TABLE s ("+strings.Join(fields, ", ")+")"); err != nil {
		return nil, err
	}
	return db, appendRows(ctx, connector, t.Rows(), columns)
}

func appendRows(ctx context.Context, connector *duckdb.Connector, rows int, columns []func(int) driver.Value) error {
	conn, err := connector.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	a, err := duckdb.NewAppenderFromConn(conn, "", "s")
	if err != nil {
		return err
	}
	values := make([]driver.Value, len(columns))
	for row := range rows {
		for i, c := range columns {
			values[i] = c(row)
		}
		if err := a.AppendRow(values...); err != nil {
			return err
		}
	}
	return a.Close()
}
