// Package clickhouse keeps runs in ClickHouse, on one server or on the shards of
// a cluster, and answers the questions of views there, as SQL.
//
// A run is one table of rows, spread over the shards in blocks, and on the first
// shard one of pieces: dictionaries, sources, the topology. A row in the list of
// runs commits it; without that row the run does not exist. The HTTP interface is
// used with blocks of the Native format: the Go drivers would make the program
// larger than it may be.
package clickhouse
