package preflight

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"

	"github.com/temporal-codemode/codemode/sandbox/compile"
	"github.com/temporal-codemode/codemode/signals"
)

// Bounds of what is looked at: a program beyond them is passed over.
const (
	mostNodes = 60_000
	mostDepth = 400
	mostUses  = 2_000
	mostReads = 4_000
)

// Read surveys a program.
func Read(tree *compile.Tree) (survey *Survey) {
	first := newReader(tree, newNames())
	if !first.whole() {
		return &Survey{Partial: true}
	}
	second := newReader(tree, first.names)
	second.final = true // now it is known which names are assigned, and which fields written
	second.whole()
	if second.names.elsewhere { // any field may have been added
		second.survey.Reads = nil
	}
	return second.survey
}

// names are what the whole program does to names, wherever that is.
type names struct {
	assigned map[string]int  // how often variables are assigned after their declaration
	read     map[string]int  // how often names are read
	loops    map[string]Loop // in which loops they are
	written  map[string]bool // fields that the program sets
	tested   map[string]bool // globals whose existence the program asks for
	probed   map[string]bool // fields whose existence it asks for
	// elsewhere says that fields of unknown names are set on values that may be results.
	elsewhere bool
}

func newNames() *names {
	return &names{assigned: map[string]int{}, read: map[string]int{}, loops: map[string]Loop{},
		written: map[string]bool{}, tested: map[string]bool{},
		probed: map[string]bool{}}
}

// reader walks a program in the order in which it runs, as far as that can be told.
type reader struct {
	tree   *compile.Tree
	names  *names
	final  bool // names are known
	survey *Survey
	nodes  int
	depth  int

	scope *scope
	fn    *function
	// certain says that a program which runs to its end comes here; guarded, that a failure here need not end it.
	certain, guarded bool
	// guessing says that the program asked first what it has: it knows that a field may be missing.
	guessing bool
	// leaves counts the statements that may have left the function.
	leaves int
	loop   Loop
	loops  []*loop
	// entered says that the function has been read of which the program consists.
	entered bool
	// exported is the function that the program exports.
	exported ast.Expression
}

// function is what is known of the function that is being read.
type function struct {
	main  bool // what it returns is the program's
	async bool
	loops int // of the reader, when it began
	// What it returns, where it does so at one place.
	value   val
	returns int
	throws  bool
}

// how says how certain it is that a function is called.
type how uint8

const (
	perhaps how = iota
	sure
	program // and what it returns is the program's value
)

// loop is one that is being read. A switch counts, since break leaves it.
type loop struct {
	label   string
	labels  bool // a labelled block
	isLoop  bool
	forever bool // has no condition, or one that is true
	exits   bool
	counted bool // something counts how often it runs
}

type tooLarge struct{}

func newReader(tree *compile.Tree, n *names) *reader {
	return &reader{tree: tree, names: n, survey: &Survey{}, scope: newScope(nil),
		fn:      &function{main: true, async: true},
		certain: true}
}

// whole reads the program; false if it is too large.
func (r *reader) whole() (ok bool) {
	defer func() {
		if thrown := recover(); thrown != nil {
			if _, large := thrown.(tooLarge); !large {
				panic(thrown)
			}
			ok = false
		}
	}()
	r.hoist(r.tree.Body, true)
	r.statements(r.tree.Body)
	if r.exported != nil && !r.entered {
		r.maybe(func() { r.function(r.exported, nil, perhaps) })
	}
	r.leaveScope()
	return true
}

// enter counts a node.
func (r *reader) enter() {
	r.nodes++
	r.depth++
	if r.nodes > mostNodes || r.depth > mostDepth || len(r.survey.Uses) > mostUses || len(r.survey.Reads) > mostReads {
		panic(tooLarge{})
	}
}

func (r *reader) leave() { r.depth-- }

func (r *reader) at(i file.Idx) *signals.Position { return r.tree.Position(i) }

// maybe reads what need not be reached.
func (r *reader) maybe(read func()) {
	before, leaves := r.certain, r.leaves
	r.certain = false
	read()
	r.certain = before && r.leaves == leaves // what comes after is not reached either where this left
}

// repeated reads what a loop repeats.
func (r *reader) repeated(kind Loop, read func()) {
	before := r.loop
	r.loop = max(r.loop, kind)
	r.maybe(read)
	r.loop = before
}

func (r *reader) value(kind ValueKind, of int, name string) int {
	if of == 0 {
		return 0
	}
	r.survey.Values = append(r.survey.Values, Value{kind, of, name})
	return len(r.survey.Values)
}

func (r *reader) note(kind NoteKind, use int, at file.Idx) {
	if use > 0 {
		r.survey.Notes = append(r.survey.Notes, Note{Kind: kind, Use: use, At: r.at(at)})
	}
}

// val is what is known of an expression's value.
type val struct {
	of      int    // a place in the survey's values
	promise int    // of a use, counted from 1: the value is its promise, or one that depends on it
	vague   bool   // what the promise resolves to is in of, not the result of the use
	list    int    // the value is a list of promises such as that of a use
	items   []val  // the parts of a list written down
	space   string // the value is a namespace
	method  string // of space: the value is its method
	fn      ast.Expression
	owner   *binding // of fn, where it has a name
	literal *Argument
	element int // what the promises of list resolve to, where that is known
	// direct says that the promises of list are those of the calls themselves.
	direct bool
}

// result is what awaiting a value gives.
func (r *reader) awaited(v val) val {
	switch {
	case v.promise > 0 && v.of == 0 && !v.vague:
		return val{of: r.value(ResultOf, v.promise, "")}
	case v.promise > 0:
		return val{of: v.of, items: v.items}
	}
	return v
}
