// Package utcp speaks of connectors as the UTCP code mode bridge does: its answers to models, its interface texts, and
// its way of naming tools. Programs written for that bridge find the same names and shapes here.
//
// Its one rule: no name that it shows is one that a client's guardrails refuse, see [Guard].
package utcp
