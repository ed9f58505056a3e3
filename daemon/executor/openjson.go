package executor

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/mssql"
)

// openJSON caches whether a database has OPENJSON. One with a compatibility level before SQL Server
// 2016 has not. An administrator can change the level while the daemon runs, so the result expires
// like the columns of tables.
type openJSON struct {
	cached atomic.Pointer[openJSONResult] // nil until it is detected
}

type openJSONResult struct {
	exists  bool
	expires time.Time
}

// detect reports whether the database of a connection has OPENJSON. It does not wait for another
// session that detects it at the same time, on a connection that may be dead.
func (o *openJSON) detect(ctx context.Context, conn *mssql.Conn) (bool, error) {
	cached := o.cached.Load()
	if cached != nil && time.Now().Before(cached.expires) {
		return cached.exists, nil
	}

	rows, err := conn.Query(ctx, mssql.Query{
		SQL:    "SELECT v FROM OPENJSON(@p1) WITH (v int '$')",
		Params: []mssql.Param{mssql.JSON([]byte("[1]"))},
		Types:  []record.Type{record.Int},
	})
	isUnknown := isOpenJSONUnknown(err)
	if err != nil && !isUnknown {
		return false, err
	}
	if err == nil {
		rows.Close()
	}
	o.cached.Store(&openJSONResult{exists: !isUnknown, expires: time.Now().Add(catalogueTTL)})
	return !isUnknown, nil
}

// isOpenJSONUnknown reports whether err, of a statement with OPENJSON, means that the database does
// not have it: it reports a missing table, or a syntax error at WITH.
func isOpenJSONUnknown(err error) bool {
	refused, ok := errors.AsType[*mssql.Error](err)
	return ok && refused.UnknownSyntax()
}
