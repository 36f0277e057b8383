package engine

import "github.com/dop251/goja"

// lazyModules are the parts of the prelude that run when a program first names something of theirs: globals, and
// methods of iterators.
var lazyModules = []struct {
	name      string
	globals   []string
	iterators []string
}{
	{name: "url", globals: []string{"URL", "URLSearchParams"}},
	{name: "events", globals: []string{
		"DOMException", "Event", "CustomEvent", "EventTarget", "AbortController", "AbortSignal",
	}},
	{name: "text", globals: []string{"TextEncoder", "TextDecoder", "atob", "btoa", "Blob"}},
	{name: "http", globals: []string{"Headers", "Request", "Response"}},
	{name: "fetch"}, // loaded by the global of that name, if the connector "outbound" is there
	{name: "clone", globals: []string{"structuredClone"}},
	{name: "crypto", globals: []string{"crypto"}},
	{name: "intl", globals: []string{"Intl"}},
	{name: "platform", globals: []string{"performance", "navigator", "WeakRef", "FinalizationRegistry"}},
	{name: "disposable", globals: []string{"DisposableStack", "AsyncDisposableStack", "SuppressedError"}},
	{
		name: "iterator", globals: []string{"Iterator"},
		iterators: []string{
			"map", "filter", "take", "drop", "flatMap", "reduce", "toArray", "forEach", "some", "every", "find",
		},
	},
}

// shelf is the prototype of an object whose missing properties wait to be loaded: a lookup that comes this far loads
// the module that defines them. It costs a fresh runtime next to nothing, unlike an accessor for each name.
type shelf struct {
	e     *Engine
	owner *goja.Object
	names map[string]string // to the module
}

var globalShelf, iteratorShelf = shelves()

func shelves() (globals, iterators map[string]string) {
	globals, iterators = map[string]string{}, map[string]string{}
	for _, m := range lazyModules {
		for _, name := range m.globals {
			globals[name] = m.name
		}
		for _, name := range m.iterators {
			iterators[name] = m.name
		}
	}
	return globals, iterators
}

func (s *shelf) Has(key string) bool {
	module := s.names[key]
	return module != "" && s.e.js.loaded[module] == nil && !s.e.js.loading[module]
}

func (s *shelf) Get(key string) goja.Value {
	if !s.Has(key) {
		return nil
	}
	s.e.load(s.names[key])
	return s.owner.Get(key)
}

// Set is never reached: a property that Has admits is made on the object itself.
func (s *shelf) Set(string, goja.Value) bool { return false }
func (s *shelf) Delete(string) bool          { return true }
func (s *shelf) Keys() []string              { return nil }

// shelve puts a shelf behind an object.
func (e *Engine) shelve(owner *goja.Object, names map[string]string) error {
	return owner.SetPrototype(e.vm.NewDynamicObject(&shelf{e, owner, names}))
}

// load runs a module of the prelude once and defines its globals; it gives all that the module exports.
func (e *Engine) load(name string) *goja.Object {
	if exports := e.js.loaded[name]; exports != nil {
		return exports
	}
	if e.js.loading[name] { // a module asks whether what it is to define is there
		return e.vm.NewObject()
	}
	e.js.loading[name] = true
	defer delete(e.js.loading, name)
	global := e.vm.GlobalObject()
	scope := e.vm.CreateObject(global)
	value, err := e.runScript(name, scope, e.js.kit, e.vm.NewObject())
	if err != nil {
		panic(err)
	}
	exports, ok := value.(*goja.Object)
	if !ok { // what comes from core-js defines its globals in the scope
		exports = scope
	}
	e.js.loaded[name] = exports
	for _, m := range lazyModules {
		if m.name != name {
			continue
		}
		for _, key := range m.globals {
			_ = global.DefineDataProperty(key, exports.Get(key), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
	return exports
}

// jsLoad gives the prelude the exports of one of its modules.
func (e *Engine) jsLoad(f goja.FunctionCall) goja.Value { return e.load(f.Argument(0).String()) }

// jsShelve takes the prototype of all iterators.
func (e *Engine) jsShelve(f goja.FunctionCall) goja.Value {
	err := e.shelve(e.vm.GlobalObject(), globalShelf)
	if err == nil {
		err = e.shelve(f.Argument(0).ToObject(e.vm), iteratorShelf)
	}
	if err != nil {
		panic(err)
	}
	return goja.Undefined()
}
