package mssql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// panickingStmt is a statement with a reply on which the driver panics.
type panickingStmt struct{ driver.Stmt }

func (panickingStmt) QueryContext(context.Context, []driver.NamedValue) (driver.Rows, error) {
	var reply []byte
	return nil, fmt.Errorf("read %d", reply[len(reply)-1])
}

// TestDriverPanics: a panic of the driver is an error of the reply, and its connection is closed.
func TestDriverPanics(t *testing.T) {
	newConn := func() *conn { return &conn{transport: &transport{}} }
	c := newConn()
	if _, err := c.stream(t.Context(), panickingStmt{}, nil); !errors.Is(err, ErrUnreadable) || !c.transport.isClosed() {
		t.Errorf("statement: %v, connection closed: %v", err, c.transport.isClosed())
	}
	c = newConn()
	rows := &stream{Rows: &mssql.Rows{}, conn: c, ctx: t.Context(), stop: func() bool { return true }} // without a statement, which the driver reads
	if err := rows.Next(nil); !errors.Is(err, ErrUnreadable) || !c.transport.isClosed() {
		t.Errorf("row: %v, connection closed: %v", err, c.transport.isClosed())
	}
}

// TestRecoveredPanic: the driver returns panics of its own goroutine as errors.
func TestRecoveredPanic(t *testing.T) {
	var cause error
	func() {
		defer func() { cause = recover().(error) }()
		var reply []byte
		_ = reply[:len(reply)-1+cap(reply)]
	}()
	if err := wrap(cause); !errors.Is(err, ErrUnreadable) || !errors.Is(err, cause) {
		t.Errorf("wrap(%v): %v", cause, err)
	}
}
