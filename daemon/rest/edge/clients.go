package edge

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Clients limits the connections that clients have open. If there are too many, the one that has
// been silent for longest is closed for each new one: first among those on which nothing has
// arrived, then among those on which no request has been authenticated, then among those without a
// request in progress. Other connections therefore do not keep out clients with credentials.
type Clients struct {
	limit  int // 0 for none
	log    *slog.Logger
	closed atomic.Int64 // connections closed to make room

	mu       sync.Mutex
	open     map[*clientConn]bool
	victims  []victim // to be closed next, in this order
	warnedAt time.Time
}

// NewClients returns Clients with at most limit connections, 0 for any number.
func NewClients(limit int, log *slog.Logger) *Clients {
	return &Clients{limit: limit, log: log, open: make(map[*clientConn]bool)}
}

// Open returns the number of open connections.
func (c *Clients) Open() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// Closed returns the number of connections that were closed to make room for others.
func (c *Clients) Closed() int64 { return c.closed.Load() }

// Listener returns a listener that counts its connections.
func (c *Clients) Listener(l net.Listener) net.Listener { return clientListener{l, c} }

type clientListener struct {
	net.Listener
	clients *Clients
}

// closeTimeout is how long a new connection waits until the one that it takes the place of is
// closed, so that both do not need a descriptor at the same time.
const closeTimeout = 100 * time.Millisecond

// Accept accepts the next connection. A connection for which there is no room is closed.
func (l clientListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		tcp, ok := conn.(halfCloser)
		if !ok {
			return conn, nil
		}
		client := &clientConn{halfCloser: tcp, clients: l.clients, done: make(chan struct{})}
		client.touch()
		other, ok := l.clients.add(client)
		if other != nil {
			other.evict()
		}
		if ok {
			return client, nil
		}
		conn.Close()
	}
}

// clientConn is a connection of a client.
type clientConn struct {
	halfCloser
	clients       *Clients
	activeAt      atomic.Int64 // when it was last read from or written to, as Unix time in nanoseconds
	used          atomic.Bool  // something has arrived on it
	authenticated atomic.Bool  // a request with valid credentials has
	busy          atomic.Bool  // a request is in progress
	closed        sync.Once
	done          chan struct{} // closed with the connection
}

func (c *clientConn) touch() { c.activeAt.Store(time.Now().UnixNano()) }

// NetConn returns the underlying connection.
func (c *clientConn) NetConn() net.Conn { return c.halfCloser }

// Read reads from the client.
func (c *clientConn) Read(b []byte) (int, error) {
	n, err := c.halfCloser.Read(b)
	if n > 0 {
		c.used.Store(true)
		c.touch()
	}
	return n, err
}

// Write writes to the client.
func (c *clientConn) Write(b []byte) (int, error) {
	n, err := c.halfCloser.Write(b)
	if n > 0 {
		c.touch()
	}
	return n, err
}

// Close closes the connection.
func (c *clientConn) Close() error {
	c.clients.remove(c)
	err := c.halfCloser.Close()
	c.closed.Do(func() { close(c.done) })
	return err
}

// evict closes the connection below TLS, which might wait for the peer, and waits until the server
// has noticed.
func (c *clientConn) evict() {
	c.halfCloser.Close()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
	}
}

// victim is a connection that may be closed, as it was when it was selected.
type victim struct {
	conn     *clientConn
	activeAt int64
	rank     int
}

// The order in which connections are closed. Others are not.
const (
	unused = iota
	unauthenticated
	idle
	kept
)

func (c *clientConn) rank() int {
	if !c.used.Load() {
		return unused
	}
	if !c.authenticated.Load() {
		return unauthenticated
	}
	if !c.busy.Load() {
		return idle
	}
	return kept
}

// add counts a connection. If there are too many, it returns another one to be closed, or false if
// none can be.
func (c *Clients) add(conn *clientConn) (other *clientConn, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limit > 0 && len(c.open) >= c.limit {
		other = c.longestSilent()
		if other == nil {
			return nil, false
		}
		delete(c.open, other)
		c.closed.Add(1)
		c.warn()
	}
	c.open[conn] = true
	return other, true
}

func (c *Clients) remove(conn *clientConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

// maxVictims is how many connections are selected at a time, so that a flood of connections does
// not compare all of them for each new one.
const maxVictims = 64

// longestSilent returns the connection to be closed next, nil if there is none. The lock is held.
func (c *Clients) longestSilent() *clientConn {
	for range 2 {
		for len(c.victims) > 0 {
			v := c.victims[0]
			c.victims = c.victims[1:]
			if c.open[v.conn] && v.conn.rank() == v.rank && v.conn.activeAt.Load() == v.activeAt {
				return v.conn
			}
		}
		c.selectVictims()
	}
	return nil
}

// selectVictims selects the connections to be closed next. The lock is held.
func (c *Clients) selectVictims() {
	all := make([]victim, 0, len(c.open))
	for conn := range c.open {
		if rank := conn.rank(); rank != kept {
			all = append(all, victim{conn: conn, activeAt: conn.activeAt.Load(), rank: rank})
		}
	}
	slices.SortFunc(all, func(a, b victim) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.activeAt, b.activeAt))
	})
	c.victims = slices.Clone(all[:min(len(all), maxVictims)])
}

// warnInterval is the time between two warnings about too many connections.
const warnInterval = time.Minute

// warn logs that there are too many connections. The lock is held.
func (c *Clients) warn() {
	if time.Since(c.warnedAt) < warnInterval {
		return
	}
	c.warnedAt = time.Now()
	c.log.Warn("too many connections from clients; silent ones are closed to make room", "limit", c.limit)
}

// clientOf returns the client's connection under others, nil if it is not counted.
func clientOf(c net.Conn) *clientConn {
	for c != nil {
		if client, ok := c.(*clientConn); ok {
			return client
		}
		over, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return nil
		}
		c = over.NetConn()
	}
	return nil
}

// ConnState is for http.Server: it records whether a request is in progress. Between requests a
// connection holds no head.
func ConnState(c net.Conn, state http.ConnState) {
	if client := clientOf(c); client != nil {
		client.busy.Store(state == http.StateActive)
	}
	if f, ok := c.(interface{ releaseHead() }); ok && state == http.StateIdle {
		f.releaseHead()
	}
}

// MarkAuthenticated records that a request with valid credentials has arrived on the connection
// of ctx.
func MarkAuthenticated(ctx context.Context) {
	conn, _ := ctx.Value(connKey{}).(net.Conn)
	if client := clientOf(conn); client != nil {
		client.authenticated.Store(true)
	}
}
