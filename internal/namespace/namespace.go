// Package namespace tells which Temporal namespace a client belongs to.
//
// Its rule: a namespace is read from the client or not known at all; it is never assumed.
package namespace

import (
	"fmt"
	"reflect"

	"go.temporal.io/sdk/client"
)

// Of is the namespace of a client made by the SDK. The SDK offers no way to ask for it, though deletions and search
// attributes have to name it, so it is read from the client's own field. A type that wraps a client may tell it by a
// method Namespace() string, or embed the client.
func Of(c client.Client) (string, error) {
	if name, ok := find(c); ok {
		return name, nil
	}
	return "", fmt.Errorf("the namespace of a Temporal client of type %T cannot be told: "+
		"give the type a method Namespace() string", c)
}

func find(c any) (string, bool) {
	if told, ok := c.(interface{ Namespace() string }); ok {
		return told.Namespace(), true
	}
	v := reflect.ValueOf(c)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return "", false
	}
	if name := v.FieldByName("namespace"); name.Kind() == reflect.String {
		return name.String(), name.String() != ""
	}
	if inner := v.FieldByName("Client"); inner.Kind() == reflect.Interface && inner.CanInterface() && !inner.IsNil() {
		return find(inner.Interface())
	}
	return "", false
}
