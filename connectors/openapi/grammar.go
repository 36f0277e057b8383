package openapi

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi2"
	"github.com/getkin/kin-openapi/openapi3"

	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// shape is what a place of a document has to hold. It gives what is kept of a
// value, nil for one that is left out.
type shape func(r *repair, f *apiFile, raw []byte) []byte

func is(test func(raw []byte) bool) shape {
	return func(_ *repair, _ *apiFile, raw []byte) []byte {
		if test(raw) {
			return raw
		}
		return nil
	}
}

func isBoolean(raw []byte) bool { return rawjson.IsTrue(raw) || string(raw) == "false" }

func isDouble(raw []byte) bool {
	_, err := strconv.ParseFloat(string(raw), 64)
	return rawjson.IsNumber(raw) && err == nil && !rawjson.HasHugeNumber(raw)
}

func textsShape(_ *repair, _ *apiFile, raw []byte) []byte {
	if !rawjson.IsArray(raw) {
		return nil
	}
	return rawjson.TextArray(append([]string{}, rawjson.Texts(raw)...))
}

// scopesShape keeps a security scheme whatever stands for its scopes.
func scopesShape(_ *repair, _ *apiFile, raw []byte) []byte {
	return rawjson.TextArray(append([]string{}, rawjson.Texts(raw)...))
}

func list(of shape) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		if !rawjson.IsArray(raw) {
			return nil
		}
		var kept [][]byte
		for element := range rawjson.Elements(raw) {
			if value := of(r, f, element); value != nil {
				kept = append(kept, value)
			}
		}
		return rawjson.Array(kept)
	}
}

// named is an object whose members' names the author chose.
func named(of shape) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		if !rawjson.IsObject(raw) {
			return nil
		}
		var o rawjson.Object
		for name, member := range rawjson.Members(raw) {
			if value := of(r, f, member); value != nil {
				o.Add(name, value)
			}
		}
		return o.Bytes()
	}
}

// orderKey is the extension in which the names of a map travel through
// kin-openapi, whose maps are Go's and have no order. A model that reads a type
// gets its members as the author of the document lined them up.
const orderKey = "x-order"

// object keeps of an object what methods need. The order of the members of one
// of them, if it is named, is kept beside it.
func object(table members, ordered string) shape {
	return func(r *repair, f *apiFile, raw []byte) []byte {
		if !rawjson.IsObject(raw) {
			return nil
		}
		var o rawjson.Object
		for key, member := range rawjson.Members(raw) {
			of, known := table[key]
			if !known {
				continue
			}
			value := of(r, f, member)
			if value == nil {
				continue
			}
			o.Add(key, value)
			if key == ordered {
				addOrder(&o, value)
			}
		}
		return o.Bytes()
	}
}

func addOrder(o *rawjson.Object, of []byte) {
	var names []string
	for name := range rawjson.Members(of) {
		names = append(names, name)
	}
	if !slices.IsSorted(names) {
		o.Add(orderKey, rawjson.TextArray(names))
	}
}

// grammar is the shape of a document: that of the types which kin-openapi decodes it into.
type grammar struct {
	document                    shape
	schema, pathItem, operation members
	special                     map[reflect.Type]shape
}

// members are those of an object that are kept.
type members map[string]shape

func newGrammar(version apiVersion) *grammar {
	g := &grammar{special: map[reflect.Type]shape{
		typeOf[openapi3.SchemaRef](): schemaShape, typeOf[openapi2.SchemaRef](): apartShape,
		typeOf[openapi3.Types](): typeShape, typeOf[[]any](): is(isValues),
		typeOf[openapi3.BoolSchema](): openShape, typeOf[openapi3.ExclusiveBound](): boundShape,
		typeOf[openapi3.SecurityRequirement](): named(scopesShape), typeOf[map[string][]string](): named(scopesShape),
		typeOf[openapi3.Operation](): operationShape, typeOf[openapi2.Operation](): operationShape,
		typeOf[openapi3.Paths](): pathsShape, typeOf[map[string]*openapi2.PathItem](): pathsShape,
	}}
	media := g.table(typeOf[openapi3.MediaType]())
	media["schema"] = apartShape
	g.special[typeOf[openapi3.MediaType]()] = object(media, "")
	g.special[typeOf[openapi3.Parameter]()] = unlessSchema(object(g.table(typeOf[openapi3.Parameter]()), ""))
	for _, t := range []reflect.Type{typeOf[openapi3.RequestBody](), typeOf[openapi3.Response]()} {
		g.special[t] = object(g.table(t), "content")
	}
	old := []reflect.Type{typeOf[openapi2.Parameter](), typeOf[openapi2.Response](), typeOf[openapi2.SecurityScheme]()}
	for _, t := range old {
		g.special[t] = referable("", object(g.table(t), ""))
	}
	g.special[typeOf[openapi3.Responses]()] = successes(g.of(typeOf[openapi3.ResponseRef]()))
	g.special[typeOf[openapi2.Responses]()] = successes(g.of(typeOf[openapi2.Response]()))
	document, item, operation := typeOf[openapi3.T](), typeOf[openapi3.PathItem](), typeOf[openapi3.Operation]()
	if version == swagger2 {
		document, item, operation = typeOf[openapi2.T](), typeOf[openapi2.PathItem](), typeOf[openapi2.Operation]()
	}
	g.schema, g.pathItem, g.operation = g.table(typeOf[openapi3.Schema]()), g.table(item), g.table(operation)
	g.document = object(g.table(document), "")
	return g
}

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// unneeded are the members that no method needs. They are left out before
// kin-openapi sees them: it decodes a document once for every level of its depth.
// Schemas are loaded apart from the rest.
var unneeded = words.Set(`example examples externalDocs xml discriminator contentSchema itemSchema headers links callbacks webhooks
	schemas definitions query connect trace additionalOperations`)

func (g *grammar) table(t reflect.Type) members {
	table := members{"x-nullable": is(isBoolean), "x-multi-segment": is(isBoolean)}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name[0] != '-' && name[0] != '$' && !unneeded[name] {
			table[name] = g.of(field.Type)
		}
	}
	return table
}

func (g *grammar) of(t reflect.Type) shape {
	if special := g.special[t]; special != nil {
		return special
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.Struct:
		if ref, ok := reflect.New(t).Interface().(openapi3.ComponentRef); ok {
			value, _ := t.FieldByName("Value")
			return referable(ref.CollectionName(), g.of(value.Type))
		}
		return object(g.table(t), "")
	case reflect.Map:
		return named(g.of(t.Elem()))
	case reflect.Slice:
		if t.Elem().Kind() == reflect.String {
			return textsShape
		}
		return list(g.of(t.Elem()))
	case reflect.String:
		return is(rawjson.IsText)
	case reflect.Bool:
		return is(isBoolean)
	case reflect.Float64:
		return is(isDouble)
	case reflect.Uint64:
		return is(isCount)
	}
	return is(func(raw []byte) bool { return !rawjson.HasHugeNumber(raw) })
}

func isValues(raw []byte) bool { return rawjson.IsArray(raw) && !rawjson.HasHugeNumber(raw) }

func isCount(raw []byte) bool { return rawjson.IsDigits(raw) && len(raw) < len("9999999999999999999") }
