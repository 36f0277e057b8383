package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// snippetName is a snippet that every generated program may run.
const snippetName = "restock"

const snippetSource = `async ({tag}) => {
	const [a] = await Promise.all([shop.read({tag: tag + '.r'}), depot.read({tag: tag + '.s'})]);
	const b = await shop.write({tag: tag + '.w'});
	return [a, b, await depot.put({tag: tag + '.p'})];
}`

// generator writes one program. Every call carries a tag that no other call of the same execution has.
type generator struct {
	*rand.Rand
	sites int
	loops []string // the variables of the loops around
}

// program is the source of execution number n of a seed.
func program(seed uint64, n int) string {
	g := &generator{Rand: stream(seed, n, "program")}
	var b strings.Builder
	b.WriteString("const out = [];\nconst sleep = (ms) => new Promise((done) => setTimeout(done, ms));\n")
	for range 2 + g.IntN(3) {
		b.WriteString(g.statement(2))
	}
	if g.IntN(10) == 0 {
		b.WriteString("throw new Error('at the end ' + out.length);")
	} else {
		b.WriteString("return out;")
	}
	return b.String()
}

// stream is a source of random numbers of its own for one purpose, so that nothing depends on what runs at the same
// time.
func stream(seed uint64, n int, purpose string) *rand.Rand {
	h := uint64(14695981039346656037)
	for _, c := range purpose {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h^uint64(n)))
}

func (g *generator) statement(depth int) string {
	if depth > 0 {
		switch g.IntN(7) {
		case 0:
			return g.loop(depth)
		case 1:
			return fmt.Sprintf("if (out.length %% 2) {\n%s} else {\n%s}\n", g.statement(depth-1), g.statement(depth-1))
		case 2, 3:
			return g.parallel(depth)
		}
	}
	return fmt.Sprintf("try { out.push(await %s); } catch (e) { out.push([e.name, e.message]); }\n", g.operation())
}

func (g *generator) loop(depth int) string {
	i := fmt.Sprintf("i%d", len(g.loops))
	g.loops = append(g.loops, i)
	body := g.statement(depth - 1)
	g.loops = g.loops[:len(g.loops)-1]
	return fmt.Sprintf("for (let %s = 0; %s < %d; %s++) {\n%s}\n", i, i, 1+g.IntN(3), i, body)
}

// parallel joins several chains of calls.
func (g *generator) parallel(depth int) string {
	var chains []string
	for range 2 + g.IntN(2) {
		chains = append(chains, "(async () => {\n"+g.statement(depth-1)+g.statement(0)+"})()")
	}
	return fmt.Sprintf("await Promise.%s([%s]);\n", g.pick("all", "all", "allSettled", "race"),
		strings.Join(chains, ", "))
}

func (g *generator) operation() string {
	switch g.IntN(20) {
	case 0:
		return fmt.Sprintf("sleep(%s)", g.pick("1", "40", "1100", "2500"))
	case 1:
		return "codemode.step('roll', () => Math.random())"
	case 2:
		return fmt.Sprintf("codemode.step('look', async () => [await shop.read({tag: %s}), Math.random()])", g.tag())
	case 3:
		return fmt.Sprintf("codemode.run('%s', {tag: %s})", snippetName, g.tag())
	case 4:
		return "codemode.search('ledger').then((found) => found.length)"
	case 5:
		return fmt.Sprintf("Promise.race([%s, sleep(%s)])", g.call(), g.pick("5", "1200"))
	}
	return g.call()
}

func (g *generator) call() string {
	extra := ""
	connector, method := g.pick("shop", "shop", "depot"),
		g.pick("read", "read", "put", "put", "write", "write", "write", "ask")
	switch {
	case g.IntN(12) == 0:
		extra = ", broken: true"
	case connector == "shop" && g.IntN(6) == 0: // an MCP tool cannot ask for another attempt
		extra = fmt.Sprintf(", fails: %s", g.pick("1", "2", "9"))
	}
	return fmt.Sprintf("%s.%s({tag: %s%s})", connector, method, g.tag(), extra)
}

func (g *generator) tag() string {
	g.sites++
	tag := fmt.Sprintf("'s%d'", g.sites)
	for _, i := range g.loops {
		tag += " + '.' + " + i
	}
	return tag
}

func (g *generator) pick(options ...string) string { return options[g.IntN(len(options))] }
