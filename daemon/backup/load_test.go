package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/backup"
	"github.com/bizhook/whd/daemon/daemontest"
)

// shop is a receiver that accepts messages once it is open.
type shop struct {
	mu       sync.Mutex
	open     bool
	received map[string]int // by body
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := make([]byte, 100)
	n, _ := r.Body.Read(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.open {
		w.WriteHeader(http.StatusUnprocessableEntity)
		return
	}
	s.received[string(body[:n])]++
}

func (s *shop) has(body string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.received[body] > 0
}

// settings make the schedule long enough for a receiver that is closed for two minutes.
var settings = []string{
	"--demo",
	"--webhooks-allow-targets", "127.0.0.0/8",
	"--webhooks-retry-schedule", strings.Repeat("2s,", 99) + "2s",
}

// publisher publishes events until it is stopped.
type publisher struct {
	client *client.Client
	name   int

	mu       sync.Mutex
	accepted []string
	grown    chan struct{} // receives a value for each event, unless it is full
}

// work publishes events, each with another body, until ctx is done.
func (p *publisher) work(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		body := fmt.Sprintf("event %d of %d", n, p.name)
		if _, err := p.client.PublishEvent(context.Background(), "debtor.updated", body); err != nil {
			return err
		}
		p.mu.Lock()
		p.accepted = append(p.accepted, body)
		p.mu.Unlock()
		select {
		case p.grown <- struct{}{}:
		default:
		}
	}
	return nil
}

// list returns the bodies of the accepted events.
func (p *publisher) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.accepted)
}

// load is a number of publishers, and a reader of all records.
type load struct {
	publishers []*publisher
	end        context.CancelFunc
	group      sync.WaitGroup
}

// startLoad starts to publish events and to read all records.
func startLoad(t *testing.T, c *client.Client) *load {
	const publishers = 8
	ctx, end := context.WithCancel(t.Context())
	l := &load{end: end}
	for n := range publishers {
		p := &publisher{client: c, name: n, grown: make(chan struct{}, 1)}
		l.publishers = append(l.publishers, p)
		l.group.Go(func() {
			if err := p.work(ctx); err != nil {
				t.Errorf("publisher %d: %v", n, err)
			}
		})
	}
	l.group.Go(func() {
		kinds := record.Builtin().Kinds()
		for n := 0; ctx.Err() == nil; n++ {
			download(t, c, kinds[n%len(kinds)])
		}
	})
	return l
}

// await waits until each publisher has published further events.
func (l *load) await(events int) {
	for range events {
		for _, p := range l.publishers {
			<-p.grown
		}
	}
}

// accepted returns the bodies of all accepted events.
func (l *load) accepted() (bodies []string) {
	for _, p := range l.publishers {
		bodies = append(bodies, p.list()...)
	}
	return bodies
}

// stop waits for the publishers and the reader.
func (l *load) stop() {
	l.end()
	l.group.Wait()
}

// TestBackupUnderLoad backs up a daemon that accepts events and queries, and starts
// another daemon with the last backup.
func TestBackupUnderLoad(t *testing.T) {
	receiver := &shop{received: make(map[string]int)}
	target := httptest.NewServer(receiver)
	defer target.Close()
	first := daemontest.Start(t, settings...)
	c := clientOf(t, first, client.Options{Token: first.Key(t, "admin")})
	subscribe(t, c, target.URL)
	records := everything(t, c)

	load := startLoad(t, c)
	load.await(6)
	events := load.accepted()
	file := saved(t, backup.Source{Dir: first.Dir, Files: files(t), Program: "whd test"})
	load.await(2) // the daemon still accepts events
	over := backup.Target{Dir: first.Dir, Files: files(t), Force: true}
	_, err := backup.Restore(t.Context(), over, file)
	if err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("restoring while the daemon runs: got error %v, want one with stop it first", err)
	}
	load.stop()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}

	elsewhere := backup.Target{Dir: filepath.Join(t.TempDir(), "elsewhere"), Files: files(t)}
	if _, err := backup.Restore(t.Context(), elsewhere, file); err != nil {
		t.Fatal(err)
	}
	receiver.mu.Lock()
	receiver.open = true
	receiver.mu.Unlock()
	second := daemontest.StartIn(t, elsewhere.Dir, settings...)
	restored := clientOf(t, second, client.Options{Token: second.Key(t, "admin")})
	after := everything(t, restored)
	for kind, want := range records {
		if got := after[kind]; got != want || want == "" {
			t.Errorf("%s: got %d bytes, want the %d before the backup", kind, len(got), len(want))
		}
	}
	delivered(t, receiver, events)
	t.Logf("all %d events that were accepted before the backup were delivered", len(events))
}

func clientOf(t *testing.T, i *daemontest.Instance, o client.Options) *client.Client {
	t.Helper()
	o.URL = i.URL
	c, err := client.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func subscribe(t *testing.T, c *client.Client, to string) {
	t.Helper()
	name := "Shop"
	event := "*"
	s, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	request := wire.SubscriptionRequest{URL: &to, EventName: &event}
	if _, err := c.AddSubscription(t.Context(), s.RecID, request); err != nil {
		t.Fatal(err)
	}
}

// everything returns all records in CSV, by kind.
func everything(t *testing.T, c *client.Client) map[string]string {
	t.Helper()
	records := make(map[string]string)
	for _, kind := range record.Builtin().Kinds() {
		records[kind.Name] = download(t, c, kind)
	}
	return records
}

// download returns all records of a kind.
func download(t *testing.T, c *client.Client, kind *record.Kind) string {
	t.Helper()
	var csv bytes.Buffer
	_, _, err := c.Download(context.Background(), client.Query{Kind: kind}, "csv", &csv)
	if err != nil {
		t.Errorf("downloading %s: %v", kind.Name, err)
	}
	return csv.String()
}

// delivered waits until the receiver has all events.
func delivered(t *testing.T, s *shop, events []string) {
	t.Helper()
	enough := time.After(5 * time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for len(events) > 0 {
		if s.has(events[0]) {
			events = events[1:]
			continue
		}
		select {
		case <-tick.C:
		case <-enough:
			t.Fatalf("%d events were not delivered, such as %q", len(events), events[0])
		}
	}
}
