package sqlite

import (
	"context"
	"errors"
	"sync"
)

// ErrPoolClosed is returned by a closed pool.
var ErrPoolClosed = errors.New("sqlite: the pool is closed")

// maxIdle is the maximum number of idle connections; each may use two megabytes for
// pages.
const maxIdle = 16

// Pool is a pool of connections to one database file. Connections are opened on demand.
// The most recently used idle connection is reused first, since its page and statement
// caches are the most current.
type Pool struct {
	path    string
	options Options
	slots   chan struct{} // one element per connection in use

	mu       sync.Mutex
	idle     []*Conn
	isClosed bool
	closed   chan struct{} // closed with the pool
}

// NewPool returns a pool of at most size connections. It opens one of them to report a
// file that cannot be opened.
func NewPool(path string, o Options, size int) (*Pool, error) {
	first, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	o.Existing = true // do not create the file again if it is deleted later
	return &Pool{
		path:    path,
		options: o,
		slots:   make(chan struct{}, max(size, 1)),
		idle:    []*Conn{first},
		closed:  make(chan struct{}),
	}, nil
}

// Get returns a connection. It waits while all of them are in use.
func (p *Pool) Get(ctx context.Context) (*Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.closed:
		return nil, ErrPoolClosed
	}
	c, err := p.connection()
	if err != nil {
		<-p.slots
	}
	return c, err
}

// connection returns an idle connection or opens one.
func (p *Pool) connection() (*Conn, error) {
	c, err := p.takeIdle()
	if c != nil || err != nil {
		return c, err
	}
	return Open(p.path, p.options)
}

// takeIdle removes and returns an idle connection, nil if there is none.
func (p *Pool) takeIdle() (*Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed {
		return nil, ErrPoolClosed
	}
	last := len(p.idle) - 1
	if last < 0 {
		return nil, nil
	}
	c := p.idle[last]
	p.idle = p.idle[:last]
	return c, nil
}

// Put returns a connection to the pool. Statements in use are reset and an open
// transaction is rolled back. Every connection returned by Get must be put back exactly
// once, even after Close.
func (p *Pool) Put(c *Conn) {
	c.cache.reset()
	isBroken := false
	if c.InTransaction() {
		isBroken = c.Exec("ROLLBACK") != nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if isBroken || p.isClosed || len(p.idle) >= maxIdle {
		c.Close()
	} else {
		p.idle = append(p.idle, c)
	}
	<-p.slots
}

// Close closes idle connections, and those in use when they are put back. Get fails
// afterwards.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed {
		return nil
	}
	p.isClosed = true
	close(p.closed)
	var err error
	for _, c := range p.idle {
		err = errors.Join(err, c.Close())
	}
	p.idle = nil
	return err
}
