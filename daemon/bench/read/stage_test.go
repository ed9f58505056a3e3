package read

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
)

// stage has the resources shared by the benchmarks. Data and servers are created on
// first use.
type stage struct {
	dir       string
	minRounds int // for the median of memory
	table     table

	small, large               func() (data, error)
	smallServers, largeServers func() (servers, error)
	children                   []*child
}

// servers are whd and the floor on the same data.
type servers struct {
	data  data
	whd   *child
	floor *child
}

func newStage(b *testing.B) *stage {
	s := &stage{dir: b.TempDir(), minRounds: minRounds}
	s.small, s.large = filled(s.dir, small), filled(s.dir, large)
	s.smallServers = sync.OnceValues(func() (servers, error) { return s.serve(s.small) })
	s.largeServers = sync.OnceValues(func() (servers, error) { return s.serve(s.large) })
	b.Cleanup(func() {
		for _, c := range s.children {
			if err := c.Stop(); err != nil {
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

// serve starts both servers and checks that their responses are equal.
func (s *stage) serve(fill func() (data, error)) (both servers, err error) {
	if both.data, err = fill(); err != nil {
		return both, err
	}
	if both.whd, err = s.run(roleDaemon, both.data); err != nil {
		return both, err
	}
	if both.floor, err = s.run(roleFloor, both.data); err != nil {
		return both, err
	}
	for _, q := range []question{row, page100, page1000, ordered100} {
		if err := both.compare(q); err != nil {
			return both, err
		}
	}
	return both, nil
}

func (s servers) compare(q question) error {
	var answers [2][]byte
	for i, c := range []*child{s.whd, s.floor} {
		conn, err := dial(c)
		if err != nil {
			return err
		}
		defer conn.Close()
		var body bytes.Buffer
		if _, err := conn.send(s.data.request(c, q, s.data.rows/2), &body); err != nil {
			return err
		}
		answers[i] = body.Bytes()
	}
	if !bytes.Equal(answers[0], answers[1]) {
		return fmt.Errorf("%s: whd responds\n%.300s\nthe floor\n%.300s", q.path, answers[0], answers[1])
	}
	return nil
}
