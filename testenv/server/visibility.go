package server

import (
	"database/sql"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	persistence "go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/resolver"
)

// inMemory is a store of its own: visibility and all else need not wait for each other's one connection.
func inMemory(name string) *config.SQL {
	return &config.SQL{
		PluginName: sqlite.PluginName, DatabaseName: name,
		ConnectAttributes: map[string]string{"mode": "memory", "cache": "shared"},
	}
}

// openInMemory makes the schema of a store in memory, which lasts as long as the process.
func openInMemory(store *config.SQL) error {
	db, err := persistence.NewSQLAdminDB(sqlplugin.DbKindUnknown, store, resolver.NewNoopResolver(),
		log.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return fmt.Errorf("make a store in memory: %w", err)
	}
	return db.Close()
}

// Indexes of the visibility table that are kept beside those of the registered search attributes.
var keptIndexes = []string{"default_idx", "by_workflow_id", "by_status"}

// dropIndexes removes most of the visibility table's 58 indexes, one for every attribute that anybody might register:
// keeping them up to date is a good part of what a short workflow costs this server. Queries work without them, and a
// development server has few rows to look through.
func dropIndexes(store *config.SQL, registered map[string]string) error {
	db, err := sql.Open("sqlite", dsn(store))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	kept := slices.Clone(keptIndexes)
	for column := range registered {
		kept = append(kept, indexOf(column))
	}
	names, err := visibilityIndexes(db)
	if err != nil {
		return fmt.Errorf("list the indexes of visibility: %w", err)
	}
	for _, name := range names {
		if slices.Contains(kept, name) {
			continue
		}
		if _, err := db.Exec("DROP INDEX " + name); err != nil {
			return fmt.Errorf("drop the index %s of visibility: %w", name, err)
		}
	}
	return nil
}

func dsn(store *config.SQL) string {
	q := url.Values{}
	for _, name := range []string{"mode", "cache"} {
		if value := store.ConnectAttributes[name]; value != "" {
			q.Set(name, value)
		}
	}
	return "file:" + store.DatabaseName + "?" + q.Encode()
}

var lastDigits = regexp.MustCompile(`(\d+)$`)

// indexOf names the index of a column for search attributes: by_keyword_01 is that of Keyword01.
func indexOf(column string) string {
	return "by_" + lastDigits.ReplaceAllString(strings.ToLower(column), "_$1")
}

func visibilityIndexes(db *sql.DB) ([]string, error) {
	rows, err := db.Query(
		`SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
