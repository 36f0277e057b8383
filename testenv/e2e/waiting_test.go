package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/temporal-codemode/codemode/connectors"
	"github.com/temporal-codemode/codemode/sandbox/child"
	"github.com/temporal-codemode/codemode/signals"
)

// TestManyProgramsWaitInOneChild: each is in a read that ends only once all of them are.
func TestManyProgramsWaitInOneChild(t *testing.T) {
	b := setUp(t)
	b.options.Sandbox = child.Options{Children: 1}
	b.worker()
	const programs = 30
	var ids []string
	for i := range programs {
		ids = append(ids, b.start(fmt.Sprintf(
			`const a = await lab.read({name: 'a%[1]d', gate: 'go'}); return [a, await lab.read({name: 'b%[1]d', gate: 'go'})]`,
			i)))
	}
	b.eventually("all programs wait", func() bool { return len(b.lab.effects("read")) == programs })
	b.lab.open("go")
	for i, id := range ids {
		b.completed(fmt.Sprintf(`["a%[1]d","b%[1]d"]`, i), b.wait(id))
	}
	require.Len(t, b.lab.effects("read"), 2*programs, "no read is repeated")
}

// TestLongReadIsMadeOnce: from a local pass on into the activity that takes it over, and past the ten seconds after
// which passes once gave a read up.
func TestLongReadIsMadeOnce(t *testing.T) {
	b := setUp(t)
	b.worker()
	id := b.start(`return await lab.read({name: 'a', gate: 'go'})`)
	time.AfterFunc(11*time.Second, func() { b.lab.open("go") })
	b.completed(`"a"`, b.wait(id))
	require.Len(t, b.lab.effects("read"), 1)
	local, activities := b.passes(id)
	require.Equal(t, []int{1, 1}, []int{local, activities})
}

func TestReadHasTheTimeoutOfItsRule(t *testing.T) {
	b := setUp(t)
	b.options.Rules = map[string][]connectors.Rule{"lab": {{Pattern: "read", Timeout: 100 * time.Millisecond}}}
	b.worker()
	o := b.run(`try { await lab.read({name: 'a', gate: 'never'}) } catch (e) { return [e.name, e.message] }`)
	b.completed(`["TimeoutError", "lab.read took longer than its timeout of 100ms."]`, o)
	require.Len(t, b.lab.effects("read"), 1)
}

// TestReadMayTakeLongerThanAPass: its rule says so.
func TestReadMayTakeLongerThanAPass(t *testing.T) {
	b := setUp(t)
	b.options.PassTimeout = 500 * time.Millisecond
	b.options.Rules = map[string][]connectors.Rule{"lab": {{Pattern: "read", Timeout: time.Minute}}}
	b.worker()
	id := b.start(`return await lab.read({name: 'a', gate: 'go'})`)
	time.AfterFunc(3*time.Second, func() { b.lab.open("go") })
	b.completed(`"a"`, b.wait(id))
	require.Len(t, b.lab.effects("read"), 1)
}

// TestLostReadIsCancelled: the program does not wait for it, and the record tells.
func TestLostReadIsCancelled(t *testing.T) {
	b := setUp(t)
	b.worker()
	o := b.run(`return await Promise.race([lab.read({name: 'slow', gate: 'never'}), lab.read({name: 'quick'})])`)
	b.completed(`"quick"`, o)
	record := b.show(o.ExecutionID)
	require.Len(t, record.Log, 2)
	require.Equal(t, signals.Errored, record.Log[0].State)
	require.Contains(t, record.Log[0].Error, "ended without waiting for this call")
	require.Equal(t, signals.Applied, record.Log[1].State)
}
