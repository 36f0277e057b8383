package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/connectors/internal/web"
	"github.com/temporal-codemode/codemode/internal/rawjson"
	"github.com/temporal-codemode/codemode/internal/words"
)

// apiFile is one file: a whole OpenAPI document, or a part that another file
// refers to.
type apiFile struct {
	raw []byte
	// path is where the file is below the folder of the first one.
	path string
	// members are those of the places that references led through, by pointer.
	members map[string]map[string][]byte
}

// parseFile reads JSON or YAML.
func parseFile(data []byte, at string) (*apiFile, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\uFEFF")))
	if !rawjson.IsObject(data) {
		var err error
		if data, err = yamlToJSON(data); err != nil {
			return nil, err
		}
	}
	raw, err := rawjson.Compact(data)
	if err != nil {
		return nil, err
	}
	return &apiFile{raw: raw, path: at, members: map[string]map[string][]byte{}}, nil
}

// apiVersion is what a document says it is.
type apiVersion int

const (
	swagger2  apiVersion = iota + 1
	openapi30            // 3.0
	openapi31            // 3.1 and later, where keywords beside a $ref count
)

// version tells what the document is, and refuses what it cannot be.
func (f *apiFile) version() (apiVersion, error) {
	if !rawjson.IsObject(f.raw) {
		return 0, errors.New("it is not an OpenAPI document")
	}
	swagger, version := f.at("/swagger"), rawjson.Text(f.at("/openapi"))
	switch {
	case version == "3.0" || strings.HasPrefix(version, "3.0."):
		return openapi30, nil
	case strings.HasPrefix(version, "3."):
		return openapi31, nil
	case version != "":
		return 0, fmt.Errorf("it is of OpenAPI version %s, but only 2.0, 3.0 and 3.1 are known",
			words.Shorten(version, 20))
	case rawjson.Text(swagger) == "2.0" || string(swagger) == "2.0" || string(swagger) == "2":
		return swagger2, nil
	}
	return 0, errors.New(`it is not an OpenAPI document: it has neither "openapi" nor "swagger": "2.0"`)
}

// at finds the place that a JSON pointer names, nil when there is none.
func (f *apiFile) at(pointer string) []byte {
	cut := strings.LastIndexByte(pointer, '/')
	if cut < 0 {
		if pointer == "" {
			return f.raw
		}
		return nil
	}
	parent := pointer[:cut]
	members, known := f.members[parent]
	if !known {
		members = membersOf(f.at(parent))
		f.members[parent] = members
	}
	return members[pointerSteps.Replace(pointer[cut+1:])]
}

var (
	pointerSteps   = strings.NewReplacer("~1", "/", "~0", "~")
	pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")
)

// membersOf are the members of an object, or the elements of a list by their numbers.
func membersOf(raw []byte) map[string][]byte {
	members := map[string][]byte{}
	for name, value := range rawjson.Members(raw) {
		members[name] = value
	}
	for value := range rawjson.Elements(raw) {
		members[strconv.Itoa(len(members))] = value
	}
	return members
}

// without is an object less one of its members.
func without(raw []byte, name string) []byte {
	var o rawjson.Object
	for key, value := range rawjson.Members(raw) {
		if key != name {
			o.Add(key, value)
		}
	}
	return o.Bytes()
}

// withMember is an object with one member added, or with another value.
func withMember(raw []byte, name string, value []byte) []byte {
	var o rawjson.Object
	for key, old := range rawjson.Members(raw) {
		if key == name {
			old, value = value, nil
		}
		o.Add(key, old)
	}
	if value != nil {
		o.Add(name, value)
	}
	return o.Bytes()
}

// apiFiles are the files of a document that was read from one. Only what lies
// in the folder of the first or below is opened.
type apiFiles struct {
	folder string              // empty: none can be opened
	opened map[string]*apiFile // nil for those that cannot be read
}

func (f *apiFiles) open(from, name string) *apiFile {
	if f.folder == "" || strings.Contains(name, "://") {
		return nil
	}
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	at := path.Join(path.Dir(from), name)
	file, known := f.opened[at]
	if !known {
		file = f.read(at)
		f.opened[at] = file
	}
	return file
}

func (f *apiFiles) read(at string) *apiFile {
	file, err := os.OpenInRoot(f.folder, filepath.FromSlash(at))
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := web.ReadLimited(file, maxDocumentBytes)
	if err != nil {
		return nil
	}
	parsed, err := parseFile(data, at)
	if err != nil {
		return nil
	}
	return parsed
}
