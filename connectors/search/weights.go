package search

// weights decide what comes first. They were chosen on some sets of catalogues and tasks and are reported on others:
// see the package comment. They lie on a plateau: where one of them was
// halved or doubled, mean recall@10 on the sets it was chosen on changed by less than 0.006.
type weights struct {
	// A term weighs as in BM25 over several fields: its occurrences are added up by field, each divided by how long the
	// field is, and then saturate. Lengths are typical numbers of terms, fixed, so that scores do not depend on what
	// else is in the catalogue.
	saturation             float32
	nameLength, textLength float32
	nameNorm, textNorm     float32
	// name to note are the fields: lead begins a description, text is the rest of it, note describes a parameter.
	name, pair, tag, connector, lead, text, parameter, value, note float32
	// joined to typo are for terms that stand for a word of the query; kin are those with another ending.
	joined, synonym, prefix, kin, typo float32
	// optional, chatter and digits are for words of the query that tell less: words for oneself, those that ask for
	// help, and numbers in a sentence.
	optional, chatter, digits float32
	// coverBase is what is left of a score when next to none of the query's words, by their rarity, are there.
	coverBase float32
	// sibling is what the best methods of a connector lend the others, about what its own description adds.
	sibling, about float32
	// nameShare and summaryShare reward a name and a summary that say nothing but what was asked for, nameQuery and
	// summaryQuery those that say all of it, nameSaid a name all of whose words were said.
	nameShare, summaryShare, nameQuery, summaryQuery, nameSaid float32
	// typedWord rewards words of the name found as they were typed, firstWord a summary that begins as the query does,
	// with a verb mostly.
	typedWord, firstWord float32
	// synonymShare is what a synonym counts in names and summaries, plainPart a word that most names have, when it was
	// not asked for.
	synonymShare, plainPart float32
	// closeDecay is how much less the comparison with name and summary counts for each word after the fourth.
	closeDecay float32
	// told is what is left of a word of a sentence once a hit before has it.
	told float32
}

var tuned = weights{
	saturation: 1, nameLength: 4, textLength: 14, nameNorm: 0.4, textNorm: 0.5,
	name: 4, pair: 1.5, tag: 2, connector: 1, lead: 1.6, text: 0.6, parameter: 1, value: 0.5, note: 0.4,
	joined: 0.6, synonym: 0.4, prefix: 0.6, kin: 0.3, typo: 0.5,
	optional: 0.4, chatter: 0.3, digits: 0.3,
	coverBase: 0.4, sibling: 0.1, about: 0.1,
	nameShare: 6, summaryShare: 6, nameQuery: 1.5, summaryQuery: 3, nameSaid: 1, typedWord: 0.5, firstWord: 1,
	synonymShare: 0.7, plainPart: 0.4, closeDecay: 0.1, told: 0.9,
}
