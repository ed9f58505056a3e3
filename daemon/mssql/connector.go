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

// loginTimeout is the time limit for opening a connection. The driver would wait forever for
// a server that accepts a connection but does not respond.
const loginTimeout = 15 * time.Second

var errLoginTimeout = fmt.Errorf("the server did not respond within %v", loginTimeout)

// limits are the time limits for operations that have no limit of the caller.
type limits struct {
	checkAfter time.Duration // idle time after which a connection is checked before reuse
	pulse      time.Duration // time limit of that check
	end        time.Duration // time limit of a commit or rollback
}

var defaultLimits = limits{
	checkAfter: time.Second,
	pulse:      3 * time.Second,
	end:        10 * time.Second,
}

// connector opens connections with sockets that can be closed.
type connector struct {
	inner  *mssql.Connector
	limits limits
}

func newConnector(dsn string, replaced ...option) (*connector, error) {
	full, entra, err := completeDSN(dsn, replaced...)
	if err != nil {
		return nil, err
	}
	open := mssql.NewConnector
	if entra {
		open = azuread.NewConnector
	}
	inner, err := open(full)
	if err != nil {
		// The driver's error may contain an option's value, which may be a secret.
		return nil, errors.New("mssql: the connection string has an invalid option")
	}
	inner.Dialer = dialer{}
	return &connector{inner, defaultLimits}, nil
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, loginTimeout, errLoginTimeout)
	defer cancel()
	sockets := &transport{}
	stop := context.AfterFunc(ctx, sockets.close)
	opened, err := c.inner.Connect(context.WithValue(ctx, transportKey{}, sockets))
	if !stop() {
		err = context.Cause(ctx) // the driver's error for a closed socket is not useful
	}
	if err != nil {
		sockets.close()
		return nil, wrapConnect(err)
	}
	return &conn{Conn: opened.(*mssql.Conn), limits: c.limits, transport: sockets}, nil
}

func (c *connector) Driver() driver.Driver { return c.inner.Driver() }

// transport contains the sockets of a connection.
type transport struct {
	mu      sync.Mutex
	gone    bool       // close was called
	sockets []net.Conn // several if the server has several addresses: the driver uses one
}

// close closes the sockets. It may be called from any goroutine at any time.
func (t *transport) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = true
	for _, s := range t.sockets {
		s.Close()
	}
}

func (t *transport) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.gone
}

func (t *transport) add(s net.Conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sockets = append(t.sockets, s)
	if t.gone {
		s.Close()
	}
}

// transportKey is the context key of a connection's transport. The context is the only information
// about the connection that the driver passes to the dialer.
type transportKey struct{}

type dialer struct{}

// keepAlive detects a dead server within a minute, and prevents firewalls from dropping
// idle connections.
var keepAlive = net.KeepAliveConfig{
	Enable:   true,
	Idle:     30 * time.Second,
	Interval: 10 * time.Second,
	Count:    3,
}

func (dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: keepAlive}
	socket, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if t, ok := ctx.Value(transportKey{}).(*transport); ok {
		t.add(socket)
	}
	return socket, nil
}
