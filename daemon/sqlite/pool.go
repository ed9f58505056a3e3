package sqlite

import (
	"context"
	"errors"
	"sync"
)

// ErrPoolClosed is the answer of a pool after Close.
var ErrPoolClosed = errors.New("sqlite: the pool is closed")

// maxIdle is the number of connections kept open for later; each may hold two
// megabytes of pages. More are opened when they are needed.
const maxIdle = 16

// Pool lends out connections to one database file. They are opened when they
// are first needed, and the one that came back last is lent first, since its
// cached pages and statements are the freshest.
type Pool struct {
	path    string
	options Options
	slots   chan struct{} // one element per connection lent out

	mu       sync.Mutex
	idle     []*Conn
	isClosed bool
	closed   chan struct{} // closed with the pool
}

// NewPool makes a pool of at most size connections. It opens one of them, so
// that a file that cannot be opened is noticed now.
func NewPool(path string, o Options, size int) (*Pool, error) {
	first, err := Open(path, o)
	if err != nil {
		return nil, err
	}
	o.Existing = true // a file that is deleted later is not created again
	return &Pool{
		path:    path,
		options: o,
		slots:   make(chan struct{}, max(size, 1)),
		idle:    []*Conn{first},
		closed:  make(chan struct{}),
	}, nil
}

// Get lends a connection, and waits for one while all are lent out.
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
	c, err := p.lend()
	if err != nil {
		<-p.slots
	}
	return c, err
}

// lend takes an idle connection or opens one.
func (p *Pool) lend() (*Conn, error) {
	p.mu.Lock()
	if p.isClosed {
		p.mu.Unlock()
		return nil, ErrPoolClosed
	}
	if n := len(p.idle); n > 0 {
		c := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return c, nil
	}
	p.mu.Unlock()
	return Open(p.path, p.options)
}

// Put takes a connection back. Statements still in use are reset and an open
// transaction is rolled back. Every connection that Get returned must come back
// once, also after Close.
func (p *Pool) Put(c *Conn) {
	c.cache.reset()
	broken := c.InTransaction() && c.Exec("ROLLBACK") != nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if broken || len(p.idle) >= maxIdle || p.isClosed {
		c.Close()
	} else {
		p.idle = append(p.idle, c)
	}
	<-p.slots
}

// Close closes the idle connections at once and those lent out as they come
// back. Get fails from now on.
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
