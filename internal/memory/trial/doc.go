// Package trial decides whether one command is slower than another on a machine
// that does other things too.
//
// The unit is a pair: both commands, one right after the other, their order by a
// coin. If nothing differs the sign of each difference is the coin's, whatever
// the machine does; that, not a model of noise, makes the test valid. Looks at
// the data while it comes share one error.
//
//   - score.go: the paired score, its interval, exact flips of signs
//   - bounds.go: how large a score must be at each look
//   - trial.go: a trial: coin, looks, lanes, verdict
//   - command.go: running a command and measuring it
package trial
