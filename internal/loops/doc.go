// Package loops finds the loops that memory traffic runs in.
//
// In: streams of references.
//
// Out: windows, distances, persistent classes with their turns, spirals to
// draw.
//
// Imported by: locality, app and the commands.
//
//   - cycle: windows, distances, persistence, circular coordinates, turns
//   - spiral: the same, ready for drawing
package loops
