package logical

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// ClusterOptions choose what processes are compared by.
type ClusterOptions struct {
	From, To int32 // steps From to To-1; To 0 is the end
	Part     int32 // one partition alone, or None
	K        int   // number of clusters; 0 chooses
}

// Clusters groups processes whose lateness runs alike.
type Clusters struct {
	List       []Cluster
	Of         []int32 // process to cluster
	Silhouette float64 // how well they are apart, -1 to 1; 0 for one cluster
	Joins      []Join
}

// Join is a node of the dendrogram over the clusters: clusters A and B, or from
// their number on earlier joins, are Distance apart, the mean over the pairs of
// their members' profiles, in ticks.
type Join struct {
	A, B     int32
	Distance float64
}

// Cluster is one group; Medoid is its most typical process.
type Cluster struct {
	Medoid  int32
	Members []int32
	Mean    float64 // lateness in ticks, over the members' profiles
	Spread  float64 // mean distance of the members from the medoid, in ticks
}

// Limits of the clustering: profiles are cut into at most profileBins pieces,
// and beyond sampleSize processes the medoids come from a sample.
const (
	profileBins = 128
	sampleSize  = 600
	maxClusters = 8
)

// goodSilhouette is the least separation at which groups are believed.
const goodSilhouette = 0.5

// Cluster groups the processes by k-medoids on their global lateness over the
// steps, by the root of the mean squared difference. The result is the same
// in every run.
func (s *Structure) Cluster(ctx context.Context, o ClusterOptions) (*Clusters, error) {
	profiles := s.profiles(o)
	n := len(profiles)
	if n == 0 {
		return &Clusters{}, nil
	}
	rng := rand.New(rand.NewPCG(1, 2))
	score := math.Inf(-1)
	lo, hi := 2, min(maxClusters, n/3)
	if o.K > 0 {
		lo, hi = min(o.K, n), min(o.K, n)
	}
	ground := sample(rng, n)
	dist := distances(profiles, ground)
	best, found := newMedoids(dist, 1), false
	for k := lo; k <= hi; k++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m := newMedoids(dist, k)
		if sil := m.silhouette(dist); o.K > 0 || sil > score && sil >= goodSilhouette {
			best, score, found = m, sil, true
		}
	}
	c := assemble(profiles, pick(ground, best.at))
	if found && len(c.List) > 1 {
		c.Silhouette = score
	}
	c.join(ground, dist)
	return c, nil
}

// join builds the dendrogram by average linkage over the processes of the ground
// set, on which distances are known. Clusters are few, so the plain cubic search
// is good enough.
func (c *Clusters) join(ground []int32, dist [][]float64) {
	k := len(c.List)
	sum, size := make([][]float64, k), make([]float64, k)
	for i := range sum {
		sum[i] = make([]float64, k)
	}
	for i, p := range ground {
		size[c.Of[p]]++
		for j, q := range ground[:i] {
			a, b := c.Of[p], c.Of[q]
			sum[a][b] += dist[i][j]
			sum[b][a] += dist[i][j]
		}
	}
	node := make([]int32, k) // of the row
	for i := range node {
		node[i] = int32(i)
	}
	for n := k; n < 2*k-1; n++ {
		x, y, least := -1, -1, math.Inf(1)
		for i := range k {
			for j := range i {
				if node[i] >= 0 && node[j] >= 0 {
					if d := sum[i][j] / max(1, size[i]*size[j]); d < least || x < 0 {
						x, y, least = j, i, d
					}
				}
			}
		}
		c.Joins = append(c.Joins, Join{node[x], node[y], least})
		for i := range k {
			sum[x][i] += sum[y][i]
			sum[i][x] = sum[x][i]
		}
		size[x] += size[y]
		node[x], node[y] = int32(n), None
	}
}

// profiles returns the lateness of each process over the steps, in at most
// profileBins pieces; a piece without operation keeps the last value.
func (s *Structure) profiles(o ClusterOptions) [][]float64 {
	if o.To <= 0 || int(o.To) > s.Steps {
		o.To = int32(s.Steps)
	}
	span := o.To - o.From
	bins := min(span, profileBins)
	if bins <= 0 {
		return nil
	}
	out := make([][]float64, len(s.Trace.Procs))
	for p := range out {
		sum, n := make([]float64, bins), make([]float64, bins)
		for i := s.Start[p]; i < s.Start[p+1]; i++ {
			if st := s.Step[i]; st >= o.From && st < o.To && (o.Part == trace.None || s.Part[i] == o.Part) {
				b := int64(st-o.From) * int64(bins) / int64(span)
				sum[b] += float64(s.GlobalLate[i])
				n[b]++
			}
		}
		last := 0.0
		for b := range sum {
			if n[b] > 0 {
				last = sum[b] / n[b]
			}
			sum[b] = last
		}
		out[p] = sum
	}
	return out
}

// sample returns the processes that medoids are chosen from: all, or a fixed
// number drawn without replacement.
func sample(rng *rand.Rand, n int) []int32 {
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	if n > sampleSize {
		rng.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
		all = all[:sampleSize]
		slices.Sort(all)
	}
	return all
}

func distance(a, b []float64) float64 {
	sum := 0.0
	for i, x := range a {
		d := x - b[i]
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(a)))
}

func distances(profiles [][]float64, ground []int32) [][]float64 {
	d := make([][]float64, len(ground))
	for i, p := range ground {
		d[i] = make([]float64, len(ground))
		for j := range i {
			d[i][j] = distance(profiles[p], profiles[ground[j]])
			d[j][i] = d[i][j]
		}
	}
	return d
}

// medoids are chosen rows of a distance matrix and the row each row is near.
type medoids struct {
	at []int32
	of []int32
}

// newMedoids starts with the most central row, adds the row farthest from all
// chosen ones until there are k, and then moves each medoid to the centre of
// its cluster until nothing changes.
func newMedoids(d [][]float64, k int) medoids {
	all := make([]int32, len(d))
	for i := range all {
		all[i] = int32(i)
	}
	m := medoids{at: []int32{central(d, all)}, of: make([]int32, len(d))}
	for len(m.at) < k {
		far, most := int32(0), -1.0
		for i := range d {
			near := math.Inf(1)
			for _, c := range m.at {
				near = min(near, d[i][c])
			}
			if near > most {
				far, most = int32(i), near
			}
		}
		m.at = append(m.at, far)
	}
	for range 50 { // converges in a few; the bound is for ties that alternate
		m.assign(d)
		if !m.recentre(d) {
			break
		}
	}
	m.assign(d)
	return m
}

func (m *medoids) assign(d [][]float64) {
	for i := range d {
		best := int32(0)
		for c, at := range m.at {
			if d[i][at] < d[i][m.at[best]] {
				best = int32(c)
			}
		}
		m.of[i] = best
	}
}

func (m *medoids) recentre(d [][]float64) (changed bool) {
	for c := range m.at {
		var members []int32
		for i, of := range m.of {
			if int(of) == c {
				members = append(members, int32(i))
			}
		}
		if len(members) == 0 {
			continue
		}
		if at := central(d, members); at != m.at[c] {
			m.at[c] = at
			changed = true
		}
	}
	return changed
}

// central returns the member with the smallest sum of distances to the rest.
func central(d [][]float64, members []int32) int32 {
	best, least := members[0], math.Inf(1)
	for _, i := range members {
		sum := 0.0
		for _, j := range members {
			sum += d[i][j]
		}
		if sum < least {
			best, least = i, sum
		}
	}
	return best
}

// silhouette is the mean over rows of how much nearer the own cluster is than
// the next one; a row alone counts 0.
func (m *medoids) silhouette(d [][]float64) float64 {
	total := 0.0
	k := len(m.at)
	for i := range d {
		sum, n := make([]float64, k), make([]float64, k)
		for j := range d {
			if i != j {
				sum[m.of[j]] += d[i][j]
				n[m.of[j]]++
			}
		}
		own := m.of[i]
		if n[own] == 0 {
			continue
		}
		a, b := sum[own]/n[own], math.Inf(1)
		for c := range k {
			if c != int(own) && n[c] > 0 {
				b = min(b, sum[c]/n[c])
			}
		}
		if most := max(a, b); most > 0 && !math.IsInf(b, 1) {
			total += (b - a) / most
		}
	}
	return total / float64(len(d))
}

func pick(ground, at []int32) []int32 {
	out := make([]int32, len(at))
	for i, a := range at {
		out[i] = ground[a]
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// assemble gives every process to its nearest medoid.
func assemble(profiles [][]float64, at []int32) *Clusters {
	c := &Clusters{Of: make([]int32, len(profiles)), List: make([]Cluster, len(at))}
	for k, p := range at {
		c.List[k].Medoid = p
	}
	for p := range profiles {
		best, near := 0, math.Inf(1)
		for k, m := range at {
			if d := distance(profiles[p], profiles[m]); d < near {
				best, near = k, d
			}
		}
		c.Of[p] = int32(best)
		l := &c.List[best]
		l.Members = append(l.Members, int32(p))
		l.Spread += near
		for _, x := range profiles[p] {
			l.Mean += x / float64(len(profiles[p]))
		}
	}
	for k := range c.List {
		l := &c.List[k]
		l.Mean /= float64(len(l.Members))
		l.Spread /= float64(len(l.Members))
	}
	return c
}
