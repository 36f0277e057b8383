// Package learnt is what workers learn of results where a method declares no type: names and kinds, counted. It is the
// contract between workers, which look at results, and the workflow that keeps what they learnt.
//
// A [Shape] never holds a value. Of the keys of objects it holds those that read like names; keys that look like data,
// ids or secrets are counted as some other key ([IsName]). [Merge] is commutative and associative, also at its bounds,
// so that workers agree in whatever order they are heard; a [Batch] counts once, however often it arrives.
//
// Its rule: whatever comes in, what is kept is bounded, and so is the work to look at it.
package learnt
