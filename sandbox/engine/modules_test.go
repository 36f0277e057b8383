package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/sandbox/internal/sandboxtest"
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
		d.Pass.Modules = modules
		sandboxtest.RequireValue(t, want, d.Finish())
	}
	d := newDriver(t, "const a = 1\nimport x from 'fs'")
	d.Pass.Modules = modules
	r := d.Finish()
	require.Equal(t, "SyntaxError: only these modules can be imported: chain, math, old", r.Failure.Message)
	require.Equal(t, 2, r.Failure.Position.Line)

	d = newDriver(t, "import { twice } from 'math'\n\nthrow new Error('at ' + twice(2))")
	d.Pass.Modules = modules
	require.Equal(t, 3, d.Finish().Failure.Position.Line, "positions stay the model's own")
	require.NotEqual(t, compile.ModulesVersion(modules), compile.ModulesVersion(map[string]string{"math": ""}))
}

func TestDynamicImportWithoutModules(t *testing.T) {
	for code, want := range map[string]string{
		"return import('node:fs').catch(e => e.message)":                         `"No such module \"node:fs\". Programs reach the outside through the connectors, which are globals."`,
		"return typeof require":                                                  `"undefined"`,
		"try { await import('x') } catch (e) { return e.constructor === Error }": "true",
	} {
		sandboxtest.RequireValue(t, want, newDriver(t, code).Finish())
	}
}
