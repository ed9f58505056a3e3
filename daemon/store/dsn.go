package store

import (
	"errors"
	"strings"

	"github.com/bizhook/whd/daemon/mssql"
)

// CheckDSN reports what is wrong with the connection string of a server,
// without connecting. The error does not repeat the string, which may hold a
// password wherever a mistake has put it.
func CheckDSN(dsn string) error {
	if err := mssql.Check(dsn); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "mssql: "))
	}
	return nil
}
