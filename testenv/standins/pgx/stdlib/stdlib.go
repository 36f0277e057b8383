// Package stdlib is the driver of package pgx for database/sql. It refuses to connect.
package stdlib

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
)

type OptionOpenDB func()

func OptionAfterConnect(func(context.Context, *pgx.Conn) error) OptionOpenDB { return func() {} }

func GetDefaultDriver() driver.Driver { return refusal{} }

func GetConnector(pgx.ConnConfig, ...OptionOpenDB) driver.Connector { return refusal{} }

type refusal struct{}

func (refusal) Open(dsn string) (driver.Conn, error) {
	_, err := pgx.ParseConfig(dsn)
	return nil, err
}

func (r refusal) Connect(context.Context) (driver.Conn, error) { return r.Open("") }

func (r refusal) Driver() driver.Driver { return r }
