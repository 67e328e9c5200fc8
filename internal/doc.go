// Package internal holds no code: it is the floor plan.
//
// Every folder here is an area, named for what it is about, and its doc.go says
// what comes in, what goes out and who may import it. Data flows one way:
//
//	base ─► data ─► machine ─► code ─► formats ─► record
//	                                      └─────► engine ─► memory ┐
//	                                      ├─────► messages         ├─► app ─► cmd/isobath
//	                                      ├─────► loops ► locality ┤
//	                                      └─────► domain           ┘
//
// TestAreas holds every arrow.
package internal
