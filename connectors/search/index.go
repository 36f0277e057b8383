package search

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// Item is what can be found: a method, or a snippet under the connector name "snippet".
type Item struct {
	Connector, Name string
	// Path is what the item is called as a whole, such as connector.name.
	Path string
	// Origin is the name at the source when that differs.
	Origin      string
	Description string
	Tags        []string
	// Parameters is the JSON Schema of the argument; the names and values in it are found too.
	Parameters json.RawMessage
	// Of is what the item stands for, given back with each hit.
	Of any
}

// Index finds items by their words. It does not change once made.
type Index struct {
	items []Item
	ids   map[string]uint32 // of terms
	// postings of term n are all[starts[n]:starts[n+1]].
	all    []posting
	starts []uint32
	// vocabulary and names are sorted, to be searched by prefix.
	vocabulary []string
	names      []nameEntry
	// distinct are the ids, in table, of the different terms of each item's name and of its summary.
	distinct [][2][]uint32
	table    []distinctTerm
	// spaces are the connectors of the items, about the connectors whose own descriptions have a term.
	spaces []uint32
	about  map[string][]posting
	// connectors are how many there are.
	connectors int
	scratch    sync.Pool
}

// distinctTerm is a word of a name or summary.
type distinctTerm struct {
	text, stem string
	plain      bool
}

// posting says how much a term tells of an item, between 0 and 1.
type posting struct {
	item   uint32
	weight float32
}

type nameEntry struct {
	folded string
	item   uint32
}

// leadTerms begin a description, maxTerms end what is read of it.
const leadTerms, maxTerms = 24, 160

type indexer struct {
	index    *Index
	postings [][]posting
	stems    map[string]string
	weights  map[string]float32
	// descriptionTerms counts the words of descriptions, named those of names.
	descriptionTerms, nameTerms map[string]int
	// compounds are words of names that are two, such as reposlist.
	compounds map[string][]string
	table     map[string]uint32
}

// New makes an index of items; about says what a connector is for, by its name, where that is known.
func New(items []Item, about map[string]string) *Index {
	b := &indexer{
		index: &Index{items: items, ids: map[string]uint32{}, distinct: make([][2][]uint32, len(items))},
		stems: map[string]string{}, weights: map[string]float32{}, descriptionTerms: map[string]int{},
		nameTerms: map[string]int{},
		compounds: map[string][]string{}, table: map[string]uint32{},
	}
	for _, it := range items {
		b.countTerms(it)
	}
	for n, it := range items {
		b.add(uint32(n), it)
	}
	b.describe(about)
	return b.finish()
}

func (b *indexer) add(n uint32, it Item) {
	clear(b.weights)
	name := it.Name
	b.name(name)
	if it.Origin != "" && it.Origin != name {
		name = it.Origin
		b.name(name)
	}
	b.index.distinct[n] = [2][]uint32{b.distinctTerms(name), b.distinctTerms(summary(it.Description))}
	for _, tag := range it.Tags {
		b.field(b.terms(tag, true), tuned.tag)
	}
	b.field(b.terms(it.Connector, true), tuned.connector)
	b.text(it.Description)
	names, values, notes := parameters(it.Parameters)
	b.field(b.terms(strings.Join(names, " "), false), tuned.parameter)
	b.field(b.terms(strings.Join(values, " "), false), tuned.value)
	b.notes(b.terms(cutText(strings.Join(notes, " ")), false))
	for term, weight := range b.weights {
		id, known := b.index.ids[term]
		if !known {
			id = uint32(len(b.postings))
			b.index.ids[strings.Clone(term)] = id
			b.postings = append(b.postings, nil)
		}
		b.postings[id] = append(b.postings[id], posting{n, weight / (weight + tuned.saturation)})
	}
	for _, name := range []string{it.Name, it.Path} {
		b.index.names = append(b.index.names, nameEntry{words.Fold(name), n})
	}
}

// name indexes a name's words, the words unsplit, and neighbours joined: what
// one writes as pull_request another writes as pullRequest or pullrequest.
func (b *indexer) name(name string) {
	list := WordsOf(name)
	var parts []string
	for _, w := range list {
		for _, part := range w.Parts {
			parts = append(parts, b.splitCompound(part)...)
		}
	}
	norm := 1 - tuned.nameNorm + tuned.nameNorm*float32(len(parts))/tuned.nameLength
	for i, part := range parts {
		b.weights[b.stem(part)] += tuned.name / norm
		if i > 0 {
			b.weights[b.stem(parts[i-1]+part)] += tuned.pair / norm
		}
	}
	for _, part := range parts {
		if rest, undoes := strings.CutPrefix(part, "un"); undoes && len(rest) >= 4 && !stopWords[part] {
			b.weights[b.stem(rest)] += tuned.pair / norm
			b.weights["remov"] += tuned.pair / norm
		}
	}
	for _, w := range list {
		if len(w.Parts) > 2 {
			b.weights[b.stem(w.whole)] += tuned.pair / norm
		}
	}
}

// countTerms learns the words that people use.
func (b *indexer) countTerms(it Item) {
	for _, w := range WordsOf(summary(it.Description)) {
		for _, part := range w.Parts {
			b.descriptionTerms[part]++
		}
	}
	for _, w := range WordsOf(it.Name) {
		for _, part := range w.Parts {
			b.nameTerms[part]++
		}
	}
}

func (b *indexer) known(part string) int { return b.descriptionTerms[part] + b.nameTerms[part] }

const (
	// leastCompound and leastHalf are in letters.
	leastCompound, leastHalf = 8, 3
	// leastUses is how often both halves have to occur.
	leastUses = 3
)

// splitCompound splits a word that nobody says where two begin that people do say:
// names lose the slash of repos/list when they become identifiers.
func (b *indexer) splitCompound(part string) []string {
	if len(part) < leastCompound || b.descriptionTerms[part] > 0 || !isASCII(part) {
		return []string{part}
	}
	if halves, known := b.compounds[part]; known {
		return halves
	}
	best, halves := leastUses-1, []string{part}
	for i := leastHalf; i <= len(part)-leastHalf; i++ {
		if n := min(b.known(part[:i]), b.known(part[i:])); n > best {
			best, halves = n, []string{part[:i], part[i:]}
		}
	}
	if len(halves) == 2 {
		b.compounds[part] = halves
	}
	return halves
}

// distinctTerms lists the words of a text for [index.closeness].
func (b *indexer) distinctTerms(s string) (list []uint32) {
	seen := map[string]bool{}
	for _, w := range WordsOf(s) {
		for _, part := range w.Parts {
			for _, text := range b.splitCompound(part) {
				if st := b.stem(text); !seen[st] && !stopWords[text] {
					seen[st] = true
					list = append(list, b.entry(text, st))
				}
			}
		}
	}
	return list
}

func (b *indexer) entry(text, stem string) uint32 {
	n, known := b.table[text]
	if !known {
		n = uint32(len(b.index.table))
		text = strings.Clone(text)
		b.table[text] = n
		b.index.table = append(b.index.table, distinctTerm{text, strings.Clone(stem), plainParts[stem]})
	}
	return n
}

func (b *indexer) field(list []string, weight float32) {
	for _, term := range list {
		b.weights[term] += weight
	}
}

// text indexes a description, the beginning of which tells the most.
func (b *indexer) text(description string) {
	list := b.terms(cutText(words.Plain(description)), false)
	list = list[:min(len(list), maxTerms)]
	norm := 1 - tuned.textNorm + tuned.textNorm*float32(len(list))/tuned.textLength
	for i, term := range list {
		if i < leadTerms {
			b.weights[term] += tuned.lead / norm
		} else {
			b.weights[term] += tuned.text / norm
		}
	}
}

// describe notes to which connector each item belongs, and what that one says of itself.
func (b *indexer) describe(about map[string]string) {
	ix := b.index
	ix.about, ix.spaces = map[string][]posting{}, make([]uint32, len(ix.items))
	numbers := map[string]uint32{}
	for i, it := range ix.items {
		n, known := numbers[it.Connector]
		if !known {
			n = uint32(len(numbers))
			numbers[it.Connector] = n
			seen := map[string]bool{}
			for _, term := range b.terms(cutText(it.Connector+" "+words.Plain(about[it.Connector])), false) {
				if !seen[term] {
					seen[term] = true
					ix.about[term] = append(ix.about[term], posting{n, 1})
				}
			}
		}
		ix.spaces[i] = n
	}
	ix.connectors = len(numbers)
}

// notes indexes the descriptions of parameters, by the same rule of length.
func (b *indexer) notes(list []string) {
	norm := 1 - tuned.textNorm + tuned.textNorm*float32(len(list))/tuned.textLength
	for _, term := range list {
		b.weights[term] += tuned.note / norm
	}
}

// cutText bounds what is tokenized.
func cutText(s string) string { return s[:min(len(s), 12*maxTerms)] }

func (b *indexer) terms(s string, keepAll bool) (list []string) {
	for _, w := range WordsOf(s) {
		for _, part := range w.Parts {
			if keepAll || !stopWords[part] {
				list = append(list, b.stem(part))
			}
		}
		if len(w.Parts) > 1 {
			list = append(list, b.stem(w.whole))
		}
	}
	return list
}

func (b *indexer) stem(w string) string {
	s, known := b.stems[w]
	if !known {
		s = Stem(w)
		b.stems[w] = s
	}
	return s
}

func (b *indexer) finish() *Index {
	ix := b.index
	ix.starts = make([]uint32, 1, len(b.postings)+1)
	total := 0
	for _, list := range b.postings {
		total += len(list)
	}
	ix.all = make([]posting, 0, total)
	for _, list := range b.postings {
		ix.all = append(ix.all, list...)
		ix.starts = append(ix.starts, uint32(len(ix.all)))
	}
	ix.vocabulary = make([]string, 0, len(ix.ids))
	for term := range ix.ids {
		ix.vocabulary = append(ix.vocabulary, term)
	}
	slices.Sort(ix.vocabulary)
	slices.SortFunc(ix.names, func(a, b nameEntry) int {
		if c := strings.Compare(a.folded, b.folded); c != 0 {
			return c
		}
		return int(a.item) - int(b.item)
	})
	ix.scratch.New = func() any { return newTally(len(ix.items)) }
	return ix
}

func (ix *Index) postings(term string) []posting {
	id, ok := ix.ids[term]
	if !ok {
		return nil
	}
	return ix.all[ix.starts[id]:ix.starts[id+1]]
}

// rarity is BM25's weight of a term that n of all items have.
func rarity(n, all int) float32 {
	return float32(math.Log(1 + (float64(all-n)+0.5)/(float64(n)+0.5)))
}

// parameters are the names that a call's argument may have and the values they
// are limited to, and those one level below, which is where the body of an
// OpenAPI operation keeps its own.
func parameters(raw json.RawMessage) (names, values, notes []string) {
	if len(raw) == 0 || !json.Valid(raw) {
		return nil, nil, nil
	}
	var read func(raw []byte, depth int)
	read = func(raw []byte, depth int) {
		for _, p := range rawjson.Entries(rawjson.Member(raw, "properties")) {
			if len(names) == maxParameters {
				return
			}
			names = append(names, p.Key)
			if note := rawjson.Member(p.Value, "description"); rawjson.IsText(note) {
				text := rawjson.Text(note)
				notes = append(notes, text[:min(len(text), noteLength)])
			}
			if list := rawjson.Texts(rawjson.Member(p.Value, "enum")); len(list) <= maxValues {
				values = append(values, list...)
			}
			if depth > 1 {
				read(p.Value, depth-1)
			}
		}
	}
	read(bytes.TrimSpace(raw), 2)
	return names, values, notes
}

// maxParameters and maxValues bound what is read of a schema.
const maxParameters, maxValues = 60, 8

// noteLength, in bytes, is what is read of a parameter's description.
const noteLength = 160
