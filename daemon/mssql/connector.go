package mssql

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"sync"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/azuread"
)

// connector opens connections of which we hold the sockets. The driver ends a
// statement by asking the server to, and waits: where the answer stays out, the
// connection is out of step from then on and answers "no rows" to everything.
// Closing the socket ends it for certain.
type connector struct{ inner *mssql.Connector }

func newConnector(dsn string) (*connector, error) {
	full, entra, err := complete(dsn)
	if err != nil {
		return nil, err
	}
	open := mssql.NewConnector
	if entra {
		open = azuread.NewConnector
	}
	inner, err := open(full)
	if err != nil {
		// The text may quote an option's value, which may be a secret.
		return nil, errors.New("mssql: the connection string has an option that cannot be used; see the driver's list of options")
	}
	inner.Dialer = dialer{}
	return &connector{inner}, nil
}

// Connect opens a connection. It is called by database/sql's pool.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	line := &line{}
	opened, err := c.inner.Connect(context.WithValue(ctx, lineKey{}, line))
	if err != nil {
		line.cut()
		return nil, wrap(err)
	}
	return &conn{Conn: opened.(*mssql.Conn), line: line}, nil
}

// Driver is database/sql's.
func (c *connector) Driver() driver.Driver { return c.inner.Driver() }

// line is what a connection's bytes travel over.
type line struct {
	mu      sync.Mutex
	isCut   bool
	sockets []net.Conn // more than one where the server has several addresses; those not used are closed
}

// cut closes the line. It may be called from any goroutine, and again.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isCut = true
	for _, s := range l.sockets {
		s.Close()
	}
}

func (l *line) add(s net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sockets = append(l.sockets, s)
	if l.isCut {
		s.Close()
	}
}

// lineKey finds the line that a dialled socket belongs to: the driver hands a
// dialer nothing of the connection but its context.
type lineKey struct{}

type dialer struct{}

// DialContext is the driver's.
func (dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	socket, err := (&net.Dialer{KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if line, ok := ctx.Value(lineKey{}).(*line); ok {
		line.add(socket)
	}
	return socket, nil
}
