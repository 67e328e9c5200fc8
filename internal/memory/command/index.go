package command

import "sync"

// phrase is one way to name an entry.
type phrase struct {
	entry  int32
	folded string
	words  []int32 // into index.words
	own    int     // the words after these name the column, not the value
	total  float64 // weight of all own words
}

// index finds phrases by words that resemble typed ones.
type index struct {
	words    []string
	masks    []uint64
	weights  []float64
	number   map[string]int32
	postings [][]posting
	phrases  []phrase

	mu   sync.Mutex
	hits map[string][]hit // of words typed lately: an input grows by its last word
}

// hit is a word that a typed one stands for.
type hit struct {
	word  int32
	score float32
}

type posting struct {
	phrase int32
	at     uint8 // position of the word in the phrase
}

func newIndex() *index { return &index{number: map[string]int32{}, hits: map[string][]hit{}} }

// mostHits is how many typed words are remembered.
const mostHits = 64

// lookup returns the words that a typed one may stand for.
func (x *index) lookup(typed string) []hit {
	x.mu.Lock()
	found, ok := x.hits[typed]
	x.mu.Unlock()
	if ok {
		return found
	}
	mask := letters(typed)
	for n, w := range x.words {
		if s := resemble(typed, mask, w, x.masks[n]); s > 0 {
			found = append(found, hit{int32(n), float32(s)})
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.hits) >= mostHits {
		clear(x.hits)
	}
	x.hits[typed] = found
	return found
}

// add makes an entry known under a text. context are words that may be typed
// with it and say nothing by themselves, such as the column of a value.
func (x *index) add(entry int, text, context string) {
	words := split(text)
	if len(words) == 0 {
		return
	}
	p := phrase{entry: int32(entry), folded: fold(text), own: len(words)}
	words = append(words, split(context)...)
	id := int32(len(x.phrases))
	for at, w := range words[:min(len(words), maxWords)] {
		n, ok := x.number[w]
		if !ok {
			n = int32(len(x.words))
			x.number[w] = n
			x.words = append(x.words, w)
			x.masks = append(x.masks, letters(w))
			x.weights = append(x.weights, weight(w))
			x.postings = append(x.postings, nil)
		}
		p.words = append(p.words, n)
		if at < p.own {
			p.total += x.weights[n]
		}
		x.postings[n] = append(x.postings[n], posting{id, uint8(at)})
	}
	x.phrases = append(x.phrases, p)
}

// find scores every phrase against typed words; a phrase that resembles none of
// them has score 0.
func (x *index) find(typed []string) []float32 {
	scores := make([]float32, len(x.phrases))
	if len(typed) == 0 || len(x.phrases) == 0 {
		return scores
	}
	typed = typed[:min(len(typed), 12)]
	best := make([][]float32, len(typed))
	where := make([][]uint8, len(typed))
	touched := make([]bool, len(x.phrases))
	for i, t := range typed {
		best[i] = make([]float32, len(x.phrases))
		where[i] = make([]uint8, len(x.phrases))
		for _, h := range x.lookup(t) {
			for _, p := range x.postings[h.word] {
				s := h.score
				if int(p.at) >= x.phrases[p.phrase].own {
					s *= 0.6
				}
				if s > best[i][p.phrase] {
					best[i][p.phrase], where[i][p.phrase] = s, p.at
					touched[p.phrase] = true
				}
			}
		}
	}
	for id, hit := range touched {
		if hit {
			scores[id] = x.score(int32(id), typed, best, where)
		}
	}
	return scores
}

// score weighs how well the typed words are found, how much of the phrase they
// cover, and whether they are in its order.
func (x *index) score(id int32, typed []string, best [][]float32, where [][]uint8) float32 {
	p := &x.phrases[id]
	found, total, covered := 0.0, 0.0, 0.0
	var used uint32
	ordered, last, factor := 1.0, -1, 1.0
	for i, t := range typed {
		w := weight(t)
		total += w
		s, at := float64(best[i][id]), int(where[i][id])
		if s == 0 {
			if w == 1 {
				factor *= 0.55
			}
			continue
		}
		if used&(1<<at) != 0 {
			s *= 0.5 // two words for one
		} else if at < p.own {
			covered += s * x.weights[p.words[at]]
		}
		used |= 1 << at
		found += w * s
		if at < last {
			ordered = 0
		}
		last = at
	}
	cover := min(1, covered/p.total)
	return float32(factor * found / total * (0.70 + 0.26*cover + 0.04*ordered))
}

// byLetters is the score of a comparison by letters. The weighted distance never
// falls below 0.7 for letters that merely occur in the phrase, so that is where
// it begins to mean something.
func byLetters(similarity float64) float64 {
	if similarity < 0.7 {
		return 0.35 * similarity
	}
	return 0.25 + (similarity-0.7)/0.3*0.67
}
