package edge

import (
	"cmp"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Clients limits the connections that clients have open. If there are too many, the one that has
// been silent for longest is closed for each new one: first among those on which no request has
// been authenticated yet, then among those without a request in progress. Connections that send
// nothing therefore do not keep out clients with credentials.
type Clients struct {
	limit   int // 0 for none
	log     *slog.Logger
	closed  atomic.Int64 // connections closed to make room
	refused atomic.Int64 // new connections for which there was no room

	mu            sync.Mutex
	open          map[*clientConn]bool
	victims       []victim  // to be closed next, in this order
	fullUntil     time.Time // until then there is no victim
	warnedClosed  time.Time // when a warning about closed connections was last logged
	warnedRefused time.Time // the same for refused ones
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

// Refused returns the number of new connections that were closed at once because all others had a
// request in progress.
func (c *Clients) Refused() int64 { return c.refused.Load() }

// Listener returns a listener that counts its connections.
func (c *Clients) Listener(l net.Listener) net.Listener {
	return clientListener{Listener: l, clients: c}
}

type clientListener struct {
	net.Listener
	clients *Clients
}

// Accept accepts the next connection. A connection for which there is no room is closed.
func (l clientListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		closer, ok := conn.(halfCloser)
		if !ok {
			return conn, nil // neither TCP nor a Unix socket
		}
		client := &clientConn{halfCloser: closer, clients: l.clients}
		client.touch()
		replaced, hasRoom := l.clients.add(client)
		if replaced != nil {
			replaced.Close()
		}
		if hasRoom {
			return client, nil
		}
		conn.Close()
	}
}

// halfCloser is the interface that net/http requires of a connection: with CloseWrite it sends a
// response before it resets the connection.
type halfCloser interface {
	net.Conn
	CloseWrite() error
}

// clientConn is a connection of a client.
type clientConn struct {
	halfCloser
	clients       *Clients
	activeAt      atomic.Int64 // when it was last read from or written to, as Unix time in nanoseconds
	authenticated atomic.Bool  // a request with valid credentials has arrived on it
	busy          atomic.Bool  // a request is in progress
}

func (c *clientConn) touch() { c.activeAt.Store(time.Now().UnixNano()) }

// NetConn returns the underlying connection.
func (c *clientConn) NetConn() net.Conn { return c.halfCloser }

// Read reads from the client.
func (c *clientConn) Read(b []byte) (int, error) {
	n, err := c.halfCloser.Read(b)
	if n > 0 {
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
	return c.halfCloser.Close()
}

// victim is a connection that may be closed, as it was when it was selected.
type victim struct {
	conn     *clientConn
	activeAt int64
	rank     int
}

// The order in which connections are closed. Those of rank kept never are.
const (
	unauthenticated = iota
	idle
	kept
)

func (c *clientConn) rank() int {
	if !c.authenticated.Load() {
		return unauthenticated
	}
	if !c.busy.Load() {
		return idle
	}
	return kept
}

// add counts a connection. If there are too many, it returns the one to be closed for it. If none
// can be closed, hasRoom is false and the new connection does not count.
func (c *Clients) add(conn *clientConn) (replaced *clientConn, hasRoom bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.limit > 0 && len(c.open) >= c.limit {
		replaced = c.longestSilentLocked()
		if replaced == nil {
			c.refused.Add(1)
			c.warnLocked(&c.warnedRefused,
				"too many connections from clients, all with a request in progress; new ones are refused")
			return nil, false
		}
		delete(c.open, replaced)
		c.closed.Add(1)
		c.warnLocked(&c.warnedClosed, "too many connections from clients; silent ones are closed to make room")
	}
	c.open[conn] = true
	return replaced, true
}

// remove ends the counting of a connection. A connection that was closed to make room has been
// removed already; it may be closed again.
func (c *Clients) remove(conn *clientConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, conn)
}

const (
	// maxVictims is how many connections are selected at a time, so that a flood of connections
	// does not compare all of them for each new one.
	maxVictims = 64

	// fullTime is how long no connection is looked for after none could be closed, for the same
	// reason.
	fullTime = 100 * time.Millisecond
)

// longestSilentLocked returns the connection to be closed next, nil if there is none. The caller
// holds the lock, as for the other methods with this suffix.
func (c *Clients) longestSilentLocked() *clientConn {
	if conn := c.nextVictimLocked(); conn != nil {
		return conn
	}
	if time.Now().Before(c.fullUntil) {
		return nil
	}
	c.selectVictimsLocked()
	if len(c.victims) == 0 {
		c.fullUntil = time.Now().Add(fullTime)
	}
	return c.nextVictimLocked()
}

// nextVictimLocked returns the next of the selected connections that has not changed, nil if there
// is none.
func (c *Clients) nextVictimLocked() *clientConn {
	for len(c.victims) > 0 {
		v := c.victims[0]
		c.victims = c.victims[1:]
		if c.open[v.conn] && v.conn.rank() == v.rank && v.conn.activeAt.Load() == v.activeAt {
			return v.conn
		}
	}
	return nil
}

// selectVictimsLocked selects the connections to be closed next. Connections that open later have
// been silent for less time than all selected ones, but they are not authenticated: so only a
// single authenticated one is selected at a time.
func (c *Clients) selectVictimsLocked() {
	candidates := make([]victim, 0, len(c.open))
	for conn := range c.open {
		if rank := conn.rank(); rank != kept {
			candidates = append(candidates, victim{conn: conn, activeAt: conn.activeAt.Load(), rank: rank})
		}
	}
	slices.SortFunc(candidates, func(a, b victim) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.activeAt, b.activeAt))
	})
	n := 0
	for n < min(len(candidates), maxVictims) && candidates[n].rank == unauthenticated {
		n++
	}
	c.victims = slices.Clone(candidates[:min(len(candidates), max(n, 1))])
}

// warnInterval is the time between two warnings with the same text.
const warnInterval = time.Minute

// warnLocked logs a warning about too many connections, unless last is recent: the time of the
// last warning with this text.
func (c *Clients) warnLocked(last *time.Time, text string) {
	now := time.Now()
	if now.Sub(*last) < warnInterval {
		return
	}
	*last = now
	c.log.Warn(text, "limit", c.limit)
}
