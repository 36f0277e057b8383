package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestModules(t *testing.T) {
	modules := map[string]string{
		"math":  "export const twice = (n: number) => n * 2;\nexport default function half(n: number) { return n / 2 }",
		"chain": "import { twice } from 'math'; export const four = twice(2);",
		"old":   "module.exports = { name: 'cjs' }",
	}
	for code, want := range map[string]string{
		"import half, { twice as t, type X } from 'math'\nreturn [half(4), t(4)]":            "[2,8]",
		"import * as m from \"math\";\nimport type { Y } from 'nowhere';\nreturn m.twice(1)": "2",
		"import {\n  four,\n} from 'chain';\nreturn four":                                    "4",
		"import old from 'old'; import { name } from 'old'\nreturn [old.name, name]":         `["cjs","cjs"]`,
		"const { twice } = await import('math'); return twice(2)":                            "4",
		"return (await import('old')).default.name":                                          `"cjs"`,
		"return import('fs').catch(e => e.message)":                                          `"No such module \"fs\". Programs reach the outside through the connectors, which are globals."`,
		"import 'math'\nexport default async () => 5":                                        "5",
	} {
		d := newDriver(t, code)
		d.pass.Modules = modules
		requireValue(t, want, d.finish())
	}
	d := newDriver(t, "const a = 1\nimport x from 'fs'")
	d.pass.Modules = modules
	r := d.finish()
	require.Equal(t, "SyntaxError: only these modules can be imported: chain, math, old", r.Failure.Message)
	require.Equal(t, 2, r.Failure.Position.Line)

	d = newDriver(t, "import { twice } from 'math'\n\nthrow new Error('at ' + twice(2))")
	d.pass.Modules = modules
	require.Equal(t, 3, d.finish().Failure.Position.Line, "positions stay the model's own")
	require.NotEqual(t, ModulesVersion(modules), ModulesVersion(map[string]string{"math": ""}))
}

func TestDynamicImportWithoutModules(t *testing.T) {
	for code, want := range map[string]string{
		"return import('node:fs').catch(e => e.message)":                         `"No such module \"node:fs\". Programs reach the outside through the connectors, which are globals."`,
		"return typeof require":                                                  `"undefined"`,
		"try { await import('x') } catch (e) { return e.constructor === Error }": "true",
	} {
		requireValue(t, want, newDriver(t, code).finish())
	}
}
