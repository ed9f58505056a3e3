package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
)

func newPool(t *testing.T, size int) *Pool {
	t.Helper()
	p, err := NewPool(filepath.Join(t.TempDir(), "records.db"), Options{}, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func get(t *testing.T, p *Pool) *Conn {
	t.Helper()
	c, err := p.Get(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPool(t *testing.T) {
	p := newPool(t, 2)
	first := get(t, p)
	second := get(t, p)
	if first == second {
		t.Fatal("a connection in use was returned by Get")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Get(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Get with a cancelled context: got error %v, want %v", err, context.Canceled)
	}
	received := make(chan *Conn)
	go func() {
		c, _ := p.Get(context.Background())
		received <- c
	}()
	p.Put(second)
	if c := <-received; c != second {
		t.Error("the connection was not passed to the waiting Get")
	}
	p.Put(first)
	p.Put(second)
	c := get(t, p)
	defer p.Put(c)
	if c != second {
		t.Error("the most recently used connection is not reused first")
	}
}

func TestPoolWaitIsCancelled(t *testing.T) {
	p := newPool(t, 1)
	c := get(t, p)
	defer p.Put(c)
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error)
	go func() {
		_, err := p.Get(ctx)
		failed <- err
	}()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("Get: got error %v, want %v", err, context.Canceled)
	}
}

// TestPutCleansUp puts a connection back with a running statement and an open transaction.
func TestPutCleansUp(t *testing.T) {
	p := newPool(t, 1)
	c := get(t, p)
	exec(t, c, "CREATE TABLE a(x); BEGIN; INSERT INTO a VALUES (1)")
	s := prepare(t, c, "SELECT x FROM a")
	step(t, s, true)
	p.Put(c)

	c = get(t, p)
	defer p.Put(c)
	if c.InTransaction() {
		t.Error("the transaction is still open")
	}
	if got := query(t, c, "SELECT count(*) FROM a"); got != "0" {
		t.Errorf("got %s rows of an uncommitted transaction, want 0", got)
	}
}

func TestPoolClose(t *testing.T) {
	p := newPool(t, 2)
	c := get(t, p)
	waiting := get(t, p)
	failed := make(chan error)
	go func() {
		_, err := p.Get(context.Background())
		failed <- err
	}()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, ErrPoolClosed) {
		t.Errorf("the waiting Get: got error %v, want %v", err, ErrPoolClosed)
	}
	if got := query(t, c, "SELECT 1"); got != "1" {
		t.Errorf("a connection in use: got %s, want 1", got)
	}
	p.Put(c)
	p.Put(waiting)
	if c.tls != nil || waiting.tls != nil {
		t.Error("connections put back are still open")
	}
	if _, err := p.Get(context.Background()); !errors.Is(err, ErrPoolClosed) {
		t.Errorf("Get on a closed pool: got error %v, want %v", err, ErrPoolClosed)
	}
	if err := p.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestPoolNeedsAFile(t *testing.T) {
	if _, err := NewPool(filepath.Join(t.TempDir(), "no", "such.db"), Options{}, 1); err == nil {
		t.Error("no error for a missing file")
	}
}

// TestPoolInParallel runs readers and writers concurrently.
func TestPoolInParallel(t *testing.T) {
	p := newPool(t, 3)
	c := get(t, p)
	exec(t, c, "PRAGMA busy_timeout = 60000; CREATE TABLE a(x TEXT COLLATE TSQL)")
	p.Put(c)
	var work sync.WaitGroup
	for worker := range 8 {
		work.Go(func() {
			for i := range 30 {
				if err := useOnce(p, fmt.Sprint("w", worker, "-", i)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	c = get(t, p)
	defer p.Put(c)
	if got := query(t, c, "SELECT count(DISTINCT x) FROM a"); got != "240" {
		t.Errorf("got %s rows, want 240", got)
	}
}

// useOnce inserts a text and reads it by one connection.
func useOnce(p *Pool, text string) error {
	c, err := p.Get(context.Background())
	if err != nil {
		return err
	}
	defer p.Put(c)
	if err := c.Exec("PRAGMA busy_timeout = 60000"); err != nil {
		return err
	}
	for _, sql := range []string{"INSERT INTO a VALUES (?)", "SELECT x FROM a WHERE x = ?"} {
		s, err := c.Prepare(sql)
		if err != nil {
			return err
		}
		s.BindText(1, text)
		hasRow, err := s.Step()
		if err != nil {
			return err
		}
		if hasRow && s.Text(0) != text {
			return fmt.Errorf("read %q, want %q", s.Text(0), text)
		}
		s.Reset()
	}
	return nil
}
