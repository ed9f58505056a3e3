package store

import (
	"database/sql"
	"net/url"

	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// openOwn opens the file of our own tables through database/sql, which serves
// SQL Server too. One connection writes at a time anyway, so a few are enough.
func openOwn(path string) (*sql.DB, error) {
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)"}, "_txlock": {"immediate"}}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+pragmas.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	if err := db.Ping(); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}
