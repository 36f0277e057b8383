// Package types writes JSON Schemas as TypeScript, for models to read.
//
// [FromSchema] and the declarations of a [Connector] print what the reference prints (see package signals, which names
// it). Beyond that, definitions ($defs, definitions, components/schemas) become declared types, one for all methods of
// a connector that define the same, allOf is merged where it can be, and what TypeScript would refuse is written so
// that it does not.
//
// Its rule: a type's name does not depend on what else fits, so it stays the same as long as the methods do.
package types
