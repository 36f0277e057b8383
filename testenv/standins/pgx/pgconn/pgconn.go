// Package pgconn has the errors of a PostgreSQL server, of which there is none.
package pgconn

type PgError struct{ Code, Message string }

func (e *PgError) Error() string { return e.Message + " (SQLSTATE " + e.Code + ")" }
