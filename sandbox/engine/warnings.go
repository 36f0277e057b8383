package engine

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/temporal-codemode/codemode/sandbox"
	"github.com/temporal-codemode/codemode/signals"
)

// What a program loses without an error is told beside its result. Finding it runs nothing of the program's: it has
// ended, and a getter might issue calls.

// inspector is what looking at values takes, kept from before the program could change it.
type inspector struct {
	describe goja.Callable // Object.getOwnPropertyDescriptor
	plain    *goja.Object  // Object.prototype
	toJSON   goja.Value    // the name
}

func inspectorOf(vm *goja.Runtime) inspector {
	object := vm.Get("Object").ToObject(vm)
	return inspector{describe: method(object, "getOwnPropertyDescriptor"),
		plain: object.Get("prototype").ToObject(vm), toJSON: vm.ToValue("toJSON")}
}

// field is what an own property holds; nil for one that is not there, or is computed.
func (i inspector) field(o *goja.Object, key goja.Value) goja.Value {
	found, err := i.describe(goja.Undefined(), o, key)
	if err != nil || goja.IsUndefined(found) {
		return nil
	}
	descriptor, ok := found.(*goja.Object)
	if !ok || !slices.Contains(descriptor.GetOwnPropertyNames(), "value") {
		return nil
	}
	return descriptor.Get("value")
}

// maxRejections is how many promises that were rejected are kept until something handles them.
const maxRejections = 100

// trackRejection is told of promises that are rejected while nothing handles them, and of those that are handled later.
// Within a step it counts none: a replay does not run its function. After a throw none matter.
func (e *Engine) trackRejection(p *goja.Promise, operation goja.PromiseRejectionOperation) {
	if operation == goja.PromiseRejectionHandle {
		e.rejections = slices.DeleteFunc(e.rejections, func(other *goja.Promise) bool { return other == p })
		return
	}
	if !e.main.threw && !e.step.inStep() && len(e.rejections) < maxRejections {
		e.rejections = append(e.rejections, p)
	}
}

// inStep reports whether the running code belongs to a step's function.
func (s *scope) inStep() bool {
	for ; s != nil; s = s.parent {
		if s.random != nil {
			return true
		}
	}
	return false
}

// takeWarnings tells what a program that has ended has lost.
func (e *Engine) takeWarnings() {
	if e.stopped.Load() || e.result.End != sandbox.Completed && e.result.End != sandbox.Failed {
		return
	}
	var list []string
	if strings.Contains(string(e.result.Value), "{}") { // what all that is lost is written as
		list = e.lostValues()
	}
	e.result.Warnings = signals.BoundWarnings(append(list, e.unhandled()...))
}

// unhandled tells of the rejections that nothing handled: each error once, and equal ones together.
func (e *Engine) unhandled() (list []string) {
	var told []goja.Value
	if e.main.threw {
		told = append(told, e.main.value)
	}
	times := map[string]int{}
	for _, p := range e.rejections {
		reason := p.Result()
		if slices.ContainsFunc(told, func(v goja.Value) bool { return v.SameAs(reason) }) {
			continue
		}
		told = append(told, reason)
		text := e.rejection(reason)
		if times[text]++; times[text] == 1 {
			list = append(list, text)
		}
	}
	for i, text := range list {
		if n := times[text]; n > 1 {
			list[i] += fmt.Sprintf(" (%d times)", n)
		}
	}
	return list
}

func (e *Engine) rejection(reason goja.Value) string {
	message := e.reasonText(reason)
	for _, x := range e.errorsAt {
		if !x.value.SameAs(reason) {
			continue
		}
		at := ""
		if x.at != nil {
			at = fmt.Sprintf(" at %d:%d", x.at.Line, x.at.Column)
		}
		return fmt.Sprintf("%s%s failed, and nothing awaited it: %s", x.of, at, message)
	}
	return "A promise was rejected, and nothing awaited it: " + message
}

func (e *Engine) reasonText(reason goja.Value) string {
	o, ok := reason.(*goja.Object)
	if !ok {
		return reason.String()
	}
	if text, ok := e.js.inspector.field(o, e.vm.ToValue("message")).(goja.String); ok {
		return text.String()
	}
	return "a value that is no error"
}

// lost are values of one kind that have no JSON of their own.
type lost struct {
	kind lossy
	path string // of the first
	more int
}

// walk looks for them.
type walk struct {
	inspector
	vm    *goja.Runtime
	found []*lost
	left  int // values that may still be looked at
}

// maxWalk bounds how many values of a result are looked at, maxDepth how deep.
const maxWalk, maxDepth = 10_000, 100

func (e *Engine) lostValues() (list []string) {
	w := walk{inspector: e.js.inspector, vm: e.vm, left: maxWalk}
	w.value(e.main.value, "result", 0)
	for _, l := range w.found {
		more := ""
		if l.more > 0 {
			more = fmt.Sprintf(" (and %d more)", l.more)
		}
		list = append(list, fmt.Sprintf("%s%s is %s, which JSON writes %s: %s.", l.path, more, l.kind.what,
			cmp.Or(l.kind.as, "as {}"), l.kind.remedy))
	}
	return list
}

var (
	promiseType = reflect.TypeFor[*goja.Promise]()
	mapType     = reflect.TypeFor[[][2]any]()
	setType     = reflect.TypeFor[[]any]() // of arrays too, whose class tells them apart
	proxyType   = reflect.TypeFor[goja.Proxy]()
)

func (w *walk) value(v goja.Value, path string, depth int) {
	o, ok := v.(*goja.Object)
	if w.left--; !ok || w.left < 0 || depth > maxDepth || o.ExportType() == proxyType || w.writesItself(o) {
		return
	}
	kind := w.kindOf(o)
	if kind.what != "" {
		w.note(kind, path)
	}
	switch {
	case o.ClassName() == "Array":
		w.elements(o, path, depth)
	case kind.what == "":
		for _, key := range o.Keys() {
			w.value(w.field(o, w.vm.ToValue(key)), path+member(key), depth+1)
		}
	}
}

// lossy is a kind of values that JSON does not tell, and what to return instead.
type lossy struct{ what, as, remedy string }

func (w *walk) kindOf(o *goja.Object) lossy {
	switch class := o.ClassName(); {
	case class == "Array", class == "Function":
		return lossy{}
	case o.ExportType() == promiseType:
		return lossy{what: "a promise that nothing awaited",
			remedy: "await it, a list of them with await Promise.all(list)"}
	case o.ExportType() == mapType:
		return lossy{what: "a Map", remedy: "return Object.fromEntries(map)"}
	case o.ExportType() == setType:
		return lossy{what: "a Set", remedy: "return [...set]"}
	case class == "Error":
		return lossy{what: "an Error", as: "without its message", remedy: "return error.message"}
	case len(o.Keys()) > 0:
		return lossy{}
	}
	switch name := w.className(o); {
	case name == "":
		return lossy{}
	case strings.HasSuffix(name, "Iterator"), name == "Generator":
		return lossy{what: "an iterator", remedy: "return [...iterator]"}
	default:
		return lossy{what: "an object of class " + name, remedy: "return what it holds in a plain object"}
	}
}

func (w *walk) elements(o *goja.Object, path string, depth int) {
	length := int(o.Get("length").ToInteger()) // an array's own, never computed
	for i := 0; i < length && w.left > 0; i++ {
		w.value(w.field(o, w.vm.ToValue(i)), path+"["+strconv.Itoa(i)+"]", depth+1)
	}
}

// writesItself reports whether the object has a toJSON, or one that cannot be seen.
func (w *walk) writesItself(o *goja.Object) bool {
	for depth := 0; o != nil && depth < maxDepth; depth++ {
		if o.ExportType() == proxyType {
			return true
		}
		if found, err := w.describe(goja.Undefined(), o, w.toJSON); err != nil || !goja.IsUndefined(found) {
			return true
		}
		o = o.Prototype()
	}
	return false
}

// className is that of an object that is not plain.
func (w *walk) className(o *goja.Object) string {
	prototype := o.Prototype()
	if prototype == nil || prototype == w.plain {
		return ""
	}
	if tag, ok := w.field(prototype, goja.SymToStringTag).(goja.String); ok {
		return tag.String()
	}
	constructor, ok := w.field(prototype, w.vm.ToValue("constructor")).(*goja.Object)
	if ok && constructor.ExportType() != proxyType {
		if name, ok := w.field(constructor, w.vm.ToValue("name")).(goja.String); ok && name.Length() > 0 {
			return signals.Cut(name.String(), 40)
		}
	}
	return "without a name"
}

func (w *walk) note(kind lossy, path string) {
	for _, l := range w.found {
		if l.kind == kind {
			l.more++
			return
		}
	}
	w.found = append(w.found, &lost{kind: kind, path: signals.Cut(path, 80)})
}

func member(key string) string {
	for i, r := range key {
		letter := r == '_' || r == '$' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return "[" + strconv.Quote(key) + "]"
		}
	}
	return "." + key
}
