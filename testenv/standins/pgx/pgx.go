// Package pgx is what the Temporal server asks of its PostgreSQL driver. No connection can be configured: a development
// server keeps its state in SQLite.
package pgx

import "errors"

var errNoPostgres = errors.New("this development server does not use PostgreSQL: choose the SQLite plugin")

type (
	ConnConfig struct{}
	Conn       struct{}
	TypeMap    struct{}
)

func ParseConfig(string) (*ConnConfig, error) { return nil, errNoPostgres }

func (*Conn) TypeMap() *TypeMap { return &TypeMap{} }

func (*TypeMap) RegisterDefaultPgType(any, string) {}
