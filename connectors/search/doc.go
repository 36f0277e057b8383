// Package search finds items, such as the methods of connectors, by a few words or by a name.
//
// The index is our own. It was compared with bleve v2 (scorch in memory, English
// analyzer, BM25, the same fields and weights, names split by case beforehand)
// on 233 queries over the 1,817 operations of GitHub and Stripe, half of which
// were looked at while the weights were chosen, and on 100,000 made methods, on
// two busy cores:
//
//	                          ours    bleve   plain BM25 over name and description
//	recall@1                  0.67    0.39    0.55
//	recall@5                  0.91    0.68    0.73
//	recall@10                 0.95    0.79    0.80
//	MRR                       0.77    0.52    0.63
//	100,000: index            6-14 s  191 s
//	100,000: memory           63 MiB  1,001 MiB
//	100,000: search p50, p95  1, 7 ms 36, 110 ms
//
// The half that was not looked at gives 0.65, 0.89, 0.93 and 0.75 with ours. What
// makes the difference is not the BM25 but what a general engine does not know:
// that a method's name and first sentence ought to say what was asked for and
// little else, that programmers say delete where people say remove, and that
// reposlist is two words. bleve would also be the largest dependency but one.
//
// Its some thirty weights were chosen by hand on those two documents. They are frozen until they are chosen anew on
// more kinds of catalogues: on a catalogue of another kind they may be no better than plain BM25.
//
// Its rule: it knows nothing of what it finds but the words; what a hit stands for is the caller's.
package search
