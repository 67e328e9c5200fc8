package clickhouse

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
)

// serverError is a refusal of a server, in words that say what to do.
type serverError struct {
	Server string
	Code   int // of ClickHouse; 0 if it gave none
	Reason string
}

func (e *serverError) Error() string { return fmt.Sprintf("ClickHouse at %s: %s", e.Server, e.Reason) }

// ShardError says that a shard does not take part: an answer without its rows
// would be wrong, so there is none.
type ShardError struct {
	Shard  string
	Reason string
}

func (e *ShardError) Error() string {
	return fmt.Sprintf("shard %s %s; nothing is answered without its rows, try again when it is back", e.Shard, e.Reason)
}

var (
	errorCode = regexp.MustCompile(`Code: (\d+)`)
	// Connection refused: (127.0.0.1:9102), and: while receiving packet from 127.0.0.1:9102
	shardName = regexp.MustCompile(`(?:\(|from |host )([A-Za-z0-9_.\[\]:-]+:\d{1,5})`)
	// All connection tries failed. Log: There is no table default.t on server: 127.0.0.1:9102
	missingThere = regexp.MustCompile(`There is no table \S+ on server: ([A-Za-z0-9_.\[\]:-]+:\d{1,5})`)
)

// The error codes of ClickHouse that users can do something about; their numbers
// are those of dbms/src/Common/ErrorCodes.cpp and do not change.
var reasons = map[int]string{
	60:  "a table of the run is missing; 'isobath engine check' says which runs are whole",
	81:  "there is no such database; create it, or name another one in the address",
	158: "the question reads more rows than the user may",
	159: "the question took longer than the server allows",
	160: "the question would take longer than the server allows; select fewer rows",
	164: "the user may only read; importing and removing need a user with rights to write",
	170: "there is no such cluster; 'SELECT cluster FROM system.clusters' lists them",
	192: "the user is not known",
	193: "the password is wrong; it is read from " + passwordVariable,
	194: "a password is needed; set " + passwordVariable,
	195: "this user may not connect from here",
	241: "the server has too little memory for the question; select fewer rows",
	243: "its disk has no room left; make room there and try again",
	291: "the user has no rights on this database",
	396: "the answer has more rows than the user may have",
	497: "the user has no rights for this",
	516: "the user or the password is wrong; the password is read from " + passwordVariable,
}

// systemNoRoom is in errors of writing, which have a code of their own for each way to
// write: the number that the system gave.
var systemNoRoom = regexp.MustCompile(`errno: 28\b`) // ENOSPC

// shardCodes are what a server says when another one did not answer it.
var shardCodes = map[int]string{
	32:  "went away while it answered", // ATTEMPT_TO_READ_AFTER_EOF
	101: "answered out of turn",        // UNEXPECTED_PACKET_FROM_SERVER
	198: "has a name that is not known",
	209: "does not answer",
	210: "cannot be reached",
	279: "cannot be reached", // ALL_CONNECTION_TRIES_FAILED
}

// isMissing are the codes of a table or column that is not there (any more).
var isMissing = map[int]bool{16: true, 47: true, 60: true, 218: true}

// leftError says that a run is not kept any more as it was opened.
type leftError struct {
	Run    string
	Reason string
}

func (e *leftError) Error() string { return fmt.Sprintf("run %s %s", e.Run, e.Reason) }

// refused explains an answer that is an error.
func (c *client) refused(status int, text string) error {
	code := 0
	if m := errorCode.FindStringSubmatch(text); m != nil {
		code, _ = strconv.Atoi(m[1])
	}
	if systemNoRoom.MatchString(text) {
		code = 243 // NOT_ENOUGH_SPACE
	}
	if m := missingThere.FindStringSubmatch(text); m != nil {
		return &serverError{m[1], 60, reasons[60]}
	}
	if reason, ok := shardCodes[code]; ok {
		if m := shardName.FindAllStringSubmatch(text, -1); m != nil {
			return &ShardError{Shard: m[len(m)-1][1], Reason: reason}
		}
	}
	if reason, ok := reasons[code]; ok {
		return &serverError{c.host, code, reason}
	}
	return &serverError{c.host, code, cmp.Or(c.shown(text), http.StatusText(status))}
}

// Unavailable reports whether an error is one of the servers, not of the
// question: it may be asked again later.
func Unavailable(err error) bool {
	return errors.As(err, new(*ShardError)) || errors.As(err, new(*LostError)) ||
		errors.As(err, new(*timeoutError)) || errors.As(err, new(*serverError)) || errors.As(err, new(*leftError))
}
