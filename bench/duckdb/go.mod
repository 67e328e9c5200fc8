module isobath/bench/duckdb

go 1.26.0

require (
	github.com/duckdb/duckdb-go/v2 v2.5.4
	isobath v0.0.0
)

replace isobath => ../..
