// Package catalogue answers what a set of connectors offers: it searches their methods and describes them with
// TypeScript types. It knows connectors, but neither Temporal nor the sandbox.
//
// A [Catalogue] is made of a [connectors.Set] and does not change; a [Follower] makes another one when the set has
// changed. Nothing is worked out before it is needed: the index at the first search, the type names of a connector when
// one of its methods is first described, and a schema each time it is shown, since most never are.
//
// What Describe answers has a budget in tokens: first descriptions are shortened, then the innermost types are left
// out. Those become "type Name = unknown", and Describe("<connector>.Name") shows them.
//
// Its rule: an answer never fails; what cannot be found says so, and what is near.
package catalogue
