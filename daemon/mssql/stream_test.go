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

// TestDriverPanics checks that a panic of the driver is an error of the reply, and that its
// connection is closed.
func TestDriverPanics(t *testing.T) {
	check := func(part string, err error, c *conn) {
		if !errors.Is(err, ErrUnreadable) {
			t.Errorf("%s: the error is %v, want %v", part, err, ErrUnreadable)
		}
		if !c.transport.isClosed() {
			t.Errorf("%s: the connection is open, want it closed", part)
		}
	}
	c := &conn{transport: &transport{}}
	_, err := c.stream(t.Context(), panickingStmt{}, nil)
	check("statement", err, c)
	c = &conn{transport: &transport{}}
	rows := &stream{
		Rows: &mssql.Rows{}, // without a statement, which the driver reads
		conn: c,
		ctx:  t.Context(),
		stop: func() bool { return true },
	}
	check("row", rows.Next(nil), c)
}

// TestRecoveredPanic checks a panic that the driver recovers in its own goroutine and returns as
// an error.
func TestRecoveredPanic(t *testing.T) {
	var cause error
	func() {
		defer func() { cause = recover().(error) }()
		var reply []byte
		_ = reply[:len(reply)-1+cap(reply)]
	}()
	if err := wrap(cause); !errors.Is(err, ErrUnreadable) || !errors.Is(err, cause) {
		t.Errorf("wrap(%v) is %v, want both that and %v", cause, err, ErrUnreadable)
	}
}
