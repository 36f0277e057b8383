package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/temporal-codemode/codemode/signals"
)

// labels are given one by one, as name=value.
type labels map[string]string

func (l *labels) Type() string { return "label" }

func (l *labels) String() string {
	return strings.Join(signals.Caller{Labels: *l}.LabelList(), ",")
}

func (l *labels) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("write it as name=value")
	}
	if err := (signals.Caller{Labels: map[string]string{name: value}}).Check(); err != nil {
		return err
	}
	if _, twice := (*l)[name]; twice {
		return fmt.Errorf("%s is given twice", name)
	}
	if *l == nil {
		*l = labels{}
	}
	(*l)[name] = value
	return nil
}

// indexLabelsVariable says whether the server's search attribute for labels is used.
const indexLabelsVariable = "CODEMODE_INDEX_LABELS"

func indexLabels() (bool, error) {
	text := os.Getenv(indexLabelsVariable)
	if text == "" {
		return false, nil
	}
	yes, err := strconv.ParseBool(text)
	if err != nil {
		return false, usagef("%s is %q: true or false", indexLabelsVariable, text)
	}
	return yes, nil
}
