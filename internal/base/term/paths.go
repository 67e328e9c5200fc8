package term

// ShortPaths returns for each path the fewest of its last parts that no other path
// ends with: what a sentence calls a file. A path that others end with stays whole.
func ShortPaths(paths []string) map[string]string {
	ends := map[string]int{} // how many paths end with these parts
	distinct := map[string]string{}
	for _, p := range paths {
		if _, ok := distinct[p]; ok {
			continue
		}
		distinct[p] = p
		for _, end := range endings(p) {
			ends[end]++
		}
	}
	for p := range distinct {
		for _, end := range endings(p) {
			if ends[end] == 1 {
				distinct[p] = end
				break
			}
		}
	}
	return distinct
}

// endings are the last part of a path, the last two, and so on to all of it.
func endings(path string) []string {
	var out []string
	for i := len(path) - 1; i > 0; i-- {
		if path[i-1] == '/' && path[i] != '/' {
			out = append(out, path[i:])
		}
	}
	return append(out, path)
}
