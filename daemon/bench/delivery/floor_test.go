package delivery

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/sqlite"
)

// The floor is the minimum that can guarantee that accepted events are stored and sent
// once. It has a single target address, no matching and no authentication, and writes one
// row for each event.

// floor is the state of the floor process.
type floor struct {
	conn    *sqlite.Conn
	target  string
	client  *http.Client
	events  chan *floorEvent
	results chan int64 // IDs of delivered messages
	out     chan *floorEvent
}

// floorEvent is an event in the floor.
type floorEvent struct {
	id      int64
	body    []byte
	forward bool          // forwarded after it is stored
	saved   chan struct{} // closed when it is stored
}

const (
	floorBatch     = 256
	floorSenders   = 64
	floorStorePath = "/keep" // path for events that are stored but not forwarded
)

// runFloor runs the floor with a database in dir, until standard input ends.
func runFloor(dir, target string) error {
	f := &floor{
		target:  target,
		events:  make(chan *floorEvent, 1024),
		results: make(chan int64, 1<<20),
		out:     make(chan *floorEvent, 1<<20),
		client:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: floorSenders, DisableCompression: true}},
	}
	options := sqlite.Options{Pragmas: []string{"journal_mode = WAL", "synchronous = FULL"}}
	conn, err := sqlite.Open(filepath.Join(dir, "floor.db"), options)
	if err != nil {
		return err
	}
	f.conn = conn
	if err := f.conn.Exec("CREATE TABLE M (ID INTEGER PRIMARY KEY, Body TEXT, Status INTEGER)"); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() { failed <- f.write() }()
	for range floorSenders {
		go f.send()
	}
	fmt.Println("the floor serves http://" + listener.Addr().String())
	go http.Serve(listener, f)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		failed <- err
	}()
	return <-failed
}

func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	p := &floorEvent{body: body, forward: r.URL.Path != floorStorePath, saved: make(chan struct{})}
	f.events <- p
	<-p.saved
	w.WriteHeader(http.StatusCreated)
}

// next waits for an event or a result, and returns it with everything else that has arrived.
func (f *floor) next() (posts []*floorEvent, results []int64) {
	select {
	case p := <-f.events:
		posts = append(posts, p)
	case r := <-f.results:
		results = append(results, r)
	}
	for len(posts)+len(results) < floorBatch {
		select {
		case p := <-f.events:
			posts = append(posts, p)
		case r := <-f.results:
			results = append(results, r)
		default:
			return posts, results
		}
	}
	return posts, results
}

// write commits everything that arrived during the last commit.
func (f *floor) write() error {
	var id int64
	for {
		posts, results := f.next()
		if err := f.commit(posts, results, &id); err != nil {
			return err
		}
		for _, p := range posts {
			close(p.saved)
			if p.forward {
				f.out <- p
			}
		}
	}
}

// commit writes events and results in one transaction. id is the last ID of an event.
func (f *floor) commit(posts []*floorEvent, results []int64, id *int64) error {
	if err := f.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	insert, err := f.conn.Prepare("INSERT INTO M (ID, Body, Status) VALUES (?1, ?2, 0)")
	if err != nil {
		return err
	}
	for _, p := range posts {
		*id++
		p.id = *id
		insert.BindInt(1, p.id)
		insert.BindText(2, string(p.body))
		if _, err := insert.Step(); err != nil {
			return err
		}
		if err := insert.Reset(); err != nil {
			return err
		}
	}
	update, err := f.conn.Prepare("UPDATE M SET Status = 1 WHERE ID = ?1")
	if err != nil {
		return err
	}
	for _, r := range results {
		update.BindInt(1, r)
		if _, err := update.Step(); err != nil {
			return err
		}
		if err := update.Reset(); err != nil {
			return err
		}
	}
	return f.conn.Exec("COMMIT")
}

// send forwards events to the target, one at a time.
func (f *floor) send() {
	for p := range f.out {
		resp, err := f.client.Post(f.target, "application/json", bytes.NewReader(p.body))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		resp.Body.Close()
		f.results <- p.id
	}
}

// floorProcess is a running floor.
type floorProcess struct {
	*daemontest.Process
	target target
}

// startFloor starts a floor that forwards to a URL.
func startFloor(b *testing.B, url string) *floorProcess {
	b.Helper()
	return startProgram(b, floorVariable, url)
}

// startProgram starts this binary with a variable set.
func startProgram(b *testing.B, variable, value string) *floorProcess {
	b.Helper()
	program := daemontest.Program{
		Path: daemontest.Executable(b),
		Env:  []string{variable + "=" + value},
	}
	dir := b.TempDir()
	process, err := program.Start(filepath.Join(dir, "program.log"), dir)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := process.Stop(); err != nil {
			b.Error(variable, err)
		}
	})
	if err := process.Await(); err != nil {
		b.Fatal(err)
	}
	address := strings.TrimPrefix(process.URL, "http://")
	return &floorProcess{process, target{address: address, path: "/send"}}
}

// storeOnly returns the target for events that are not forwarded.
func (g *floorProcess) storeOnly() target {
	t := g.target
	t.path = floorStorePath
	return t
}
