package backup_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
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
var settings = []string{"--demo", "--webhooks-allow-targets", "127.0.0.0/8", "--webhooks-retry-schedule", strings.Repeat("2s,", 99) + "2s"}

// publisher publishes events until it is stopped.
type publisher struct {
	client *client.Client
	name   int

	mu       sync.Mutex
	accepted []string
	grown    chan struct{} // receives a value for each event, unless it is full
}

func (p *publisher) work(ctx context.Context) error {
	for n := 0; ctx.Err() == nil; n++ {
		body := fmt.Sprintf("event %d of %d", n, p.name)
		if _, err := p.client.RaiseEvent(context.Background(), "debtor.updated", body); err != nil {
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

func (p *publisher) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted[:len(p.accepted):len(p.accepted)]
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

	ctx, end := context.WithCancel(t.Context())
	var all []*publisher
	var work sync.WaitGroup
	for n := range 8 {
		p := &publisher{client: c, name: n, grown: make(chan struct{}, 1)}
		all = append(all, p)
		work.Go(func() {
			if err := p.work(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	work.Go(func() { // reads all records
		for ctx.Err() == nil {
			for _, kind := range record.Builtin().Kinds() {
				if ctx.Err() != nil {
					break
				}
				download(t, c, kind)
			}
		}
	})
	for range 6 {
		for _, p := range all {
			<-p.grown
		}
	}
	var before []string
	for _, p := range all {
		before = append(before, p.list()...)
	}
	source := backup.Source{Dir: first.Dir, Files: files(t), Program: "whd test"}
	file := saved(t, source)
	for _, p := range all { // the daemon still accepts events
		<-p.grown
		<-p.grown
	}
	to := backup.Target{Dir: first.Dir, Files: files(t), Force: true}
	if _, err := backup.Restore(t.Context(), to, file); err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("restore while the daemon runs: %v", err)
	}
	end()
	work.Wait()
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	to.Dir, to.Force = filepath.Join(t.TempDir(), "elsewhere"), false
	if _, err := backup.Restore(t.Context(), to, file); err != nil {
		t.Fatal(err)
	}
	receiver.mu.Lock()
	receiver.open = true
	receiver.mu.Unlock()
	second := daemontest.StartIn(t, to.Dir, settings...)
	restored := clientOf(t, second, client.Options{Token: second.Key(t, "admin")})
	after := everything(t, restored)
	for kind, want := range records {
		if got := after[kind]; got != want || want == "" {
			t.Errorf("%s: %d bytes, not equal to the %d before the backup", kind, len(got), len(want))
		}
	}
	delivered(t, receiver, before)
	t.Logf("%d events had been accepted before the backup; all of them were in it, and were delivered by another daemon", len(before))
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
	name, event := "Shop", "*"
	s, err := c.AddSubscriber(t.Context(), wire.SubscriberRequest{Name: &name})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.AddSubscription(t.Context(), s.RecID, wire.SubscriptionRequest{URL: &to, EventName: &event}); err != nil {
		t.Fatal(err)
	}
}

// everything returns all records of all kinds, as responses.
func everything(t *testing.T, c *client.Client) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for _, kind := range record.Builtin().Kinds() {
		all[kind.Name] = download(t, c, kind)
	}
	return all
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
