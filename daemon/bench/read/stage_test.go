package read

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// stage is what the benchmarks share. Data and servers are made when they are
// first needed.
type stage struct {
	dir   string
	least int // number of rounds to take a median of memory of
	table table

	small, large               func() (data, error)
	smallServers, largeServers func() (servers, error)
	children                   []*child
}

// servers are ours and the floor over the same data.
type servers struct {
	data  data
	ours  *child
	floor *child
}

func newStage(b *testing.B) *stage {
	s := &stage{dir: b.TempDir(), least: leastRounds}
	s.small, s.large = filled(s.dir, small), filled(s.dir, large)
	s.smallServers = sync.OnceValues(func() (servers, error) { return s.serve(s.small) })
	s.largeServers = sync.OnceValues(func() (servers, error) { return s.serve(s.large) })
	b.Cleanup(func() {
		for _, c := range s.children {
			if err := c.stop(); err != nil {
				b.Error("stopping a server:", err)
			}
		}
	})
	return s
}

// run starts a server that runs until the end.
func (s *stage) run(role string, d data) (*child, error) {
	c, err := start(role, d)
	if err == nil {
		s.children = append(s.children, c)
	}
	return c, err
}

// serve starts both servers and makes sure that they say the same.
func (s *stage) serve(fill func() (data, error)) (both servers, err error) {
	if both.data, err = fill(); err != nil {
		return both, err
	}
	if both.ours, err = s.run(roleDaemon, both.data); err != nil {
		return both, err
	}
	if both.floor, err = s.run(roleFloor, both.data); err != nil {
		return both, err
	}
	for _, q := range []question{row, page100, page1000} {
		if err := both.compare(q); err != nil {
			return both, err
		}
	}
	return both, nil
}

func (s servers) compare(q question) error {
	var answers [2][]byte
	for i, c := range []*child{s.ours, s.floor} {
		conn, err := dial(c)
		if err != nil {
			return err
		}
		defer conn.Close()
		var body bytes.Buffer
		if _, err := conn.ask(s.data.request(c, q, s.data.rows/2), &body); err != nil {
			return err
		}
		answers[i] = body.Bytes()
	}
	if !bytes.Equal(answers[0], answers[1]) {
		return fmt.Errorf("to %s ours answers\n%.300s\nthe floor\n%.300s", q.path, answers[0], answers[1])
	}
	return nil
}
