// Package discovery answers what a set of connectors offers: it searches their
// methods, describes them with TypeScript types, and writes the text by which a
// model learns of the codemode tool. It knows connectors, but neither Temporal
// nor the sandbox.
//
// A [Catalogue] is made of a [connectors.Set] and does not change; a [Follower]
// makes another one when the set has changed. Nothing is
// worked out before it is needed: the index at the first search, the type names
// of a connector when one of its methods is first described, and a schema each
// time it is shown, since most never are.
//
// # Types
//
// [JSONSchemaToType] and [GenerateTypes] print what the reference prints.
// Describe prints the same for plain schemas; beyond that definitions ($defs,
// definitions, components/schemas) become declared types, one for all methods of
// a connector that define the same, allOf is merged where it can be, and what
// TypeScript would refuse is written so that it does not. What Describe answers
// has a budget in tokens: first descriptions are shortened, then the innermost
// types are left out. Those become "type Name = unknown", and
// Describe("<connector>.Name") shows them. A type's name does not depend on what
// fits, so it stays the same as long as the catalogue does.
//
// # Search
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
package discovery
