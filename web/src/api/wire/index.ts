// Made from the Go types of the messages by
// `go test ./internal/app/server -run WireTypes -update`. Do not edit.
export type * from './frame';
export type * from './memory';
export type * from './messages';
export type * from './references';
export type * from './locality';
export type * from './mesh';
export type * from './executions';
