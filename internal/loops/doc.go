// Package loops finds the loops that memory traffic runs in.
//
// In: streams of references, and the way through the code where it was recorded.
//
// Out: windows, distances, persistent classes with their turns, spirals to
// draw.
//
// Imported by: locality, app and the commands.
//
//   - tree: the loops of the code with entries, trips and costs
//   - cycle: windows, distances, persistence, circular coordinates, turns
//   - spiral: the same, ready for drawing
package loops
