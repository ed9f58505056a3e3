package mssql

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
	"github.com/microsoft/go-mssqldb/azuread"
)

// loginLimit is the time in which a connection must be ready. The driver itself
// would wait for ever for a server that accepts a connection and says nothing.
const loginLimit = 15 * time.Second

var errSilent = fmt.Errorf("the server did not answer within %v", loginLimit)

// limits are the times that a connection has for what no caller limits.
type limits struct {
	fresh time.Duration // in which one that lies in the pool is taken to be whole
	pulse time.Duration // to answer after that
	end   time.Duration // to commit or roll back
}

var usualLimits = limits{fresh: time.Second, pulse: 3 * time.Second, end: 10 * time.Second}

// connector opens connections of which we hold the sockets.
type connector struct {
	inner  *mssql.Connector
	limits limits
}

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
		return nil, errors.New("mssql: the connection string has an option that the driver does not take")
	}
	inner.Dialer = dialer{}
	return &connector{inner, usualLimits}, nil
}

// Connect opens a connection for database/sql's pool.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, loginLimit, errSilent)
	defer cancel()
	l := &line{}
	stop := context.AfterFunc(ctx, l.cut)
	opened, err := c.inner.Connect(context.WithValue(ctx, lineKey{}, l))
	if !stop() {
		err = context.Cause(ctx) // what the driver says of a line that was cut means nothing
	}
	if err != nil {
		l.cut()
		return nil, unreachable(err)
	}
	return &conn{Conn: opened.(*mssql.Conn), limits: c.limits, line: l}, nil
}

// Driver is database/sql's.
func (c *connector) Driver() driver.Driver { return c.inner.Driver() }

// line is what a connection's bytes travel over.
type line struct {
	mu      sync.Mutex
	gone    bool
	sockets []net.Conn // several where the server has several addresses: the driver keeps one
}

// cut closes the line. It may be called from any goroutine at any time.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	for _, s := range l.sockets {
		s.Close()
	}
}

func (l *line) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

func (l *line) add(s net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sockets = append(l.sockets, s)
	if l.gone {
		s.Close()
	}
}

// lineKey finds the line that a dialled socket belongs to: all that the driver
// passes to a dialer about the connection is its context.
type lineKey struct{}

type dialer struct{}

// keepAlive finds out within a minute that a server has gone without a word, and
// keeps firewalls from forgetting connections that lie in the pool.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// DialContext is the driver's.
func (dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keepAlive}
	socket, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if l, ok := ctx.Value(lineKey{}).(*line); ok {
		l.add(socket)
	}
	return socket, nil
}
