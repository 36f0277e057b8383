package connectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/temporal-codemode/codemode/connectors/wire"
)

// Func makes a [Method] from a Go function. Arguments are decoded into In the
// way encoding/json does, but names must be those of the fields, case included,
// and no others; bigints go into integer types and bytes into []byte. A call
// without argument gives In's zero value. An In of json.RawMessage gets
// the arguments as wire JSON. The result is encoded by [EncodeValue], so an Out
// of type any that is nil is undefined.
//
// The method declares no schema; give it one, or take it from In:
//
//	m := connectors.Func("get_item", "Get one item by id.", connectors.Read, getItem)
//	m.InputSchema = connectors.SchemaFor[GetItem]()
func Func[In, Out any](name, description string, class Class, fn func(Context, In) (Out, error)) Method {
	return Method{
		Name: name, Description: description, Class: class,
		Execute: func(ctx Context, args json.RawMessage) (any, error) {
			in, err := decodeArguments[In](args)
			if err != nil {
				return nil, err
			}
			return fn(ctx, in)
		},
	}
}

func decodeArguments[In any](args json.RawMessage) (in In, err error) {
	if raw, ok := any(&in).(*json.RawMessage); ok {
		*raw = args
		return in, nil
	}
	if len(args) == 0 {
		return in, nil
	}
	plain, err := wire.Plain(args)
	if err == nil {
		if problems := keyProblems(plain, placeOf(reflect.TypeFor[In]()), false); len(problems) > 0 {
			return in, &InvalidArgumentsError{Problems: problems[:1], More: len(problems) - 1}
		}
		d := json.NewDecoder(bytes.NewReader(plain))
		d.DisallowUnknownFields()
		err = d.Decode(&in)
	}
	if err != nil {
		return in, &InvalidArgumentsError{Problems: []string{decodeProblem(err)}}
	}
	return in, nil
}

func decodeProblem(err error) string {
	var mistyped *json.UnmarshalTypeError
	if !errors.As(err, &mistyped) {
		return err.Error()
	}
	problem := fmt.Sprintf("expected %s, but got %s", jsonTypeOf(mistyped.Type), mistyped.Value)
	if mistyped.Field != "" {
		problem = mistyped.Field + ": " + problem
	}
	return problem
}

func jsonTypeOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Float32, reflect.Float64:
		return "number"
	}
	return t.String()
}

// SchemaFor derives a JSON Schema from a Go type: fields by their json tags,
// required unless omitempty, described by jsonschema tags. It panics for types
// that have no JSON form.
func SchemaFor[T any]() json.RawMessage {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic(fmt.Sprintf("connectors: no JSON Schema for %v: %v", reflect.TypeFor[T](), err))
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		panic(fmt.Sprintf("connectors: the JSON Schema of %v cannot be written: %v", reflect.TypeFor[T](), err))
	}
	return raw
}
