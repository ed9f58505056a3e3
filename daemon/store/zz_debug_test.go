package store_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/mssql/mssqltest"
	"github.com/bizhook/whd/daemon/store"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/audit"
)

func TestZZ(t *testing.T) {
	dsn := mssqltest.Database(t)
	s := openedStore(t, store.Config{Dir: t.TempDir(), DSN: dsn, Schema: "own tables", Migrate: true})
	w := s.Webhooks()
	ctx := t.Context()
	sub, err := w.AddSubscriber(ctx, webhook.Subscriber{Name: "x", Enabled: true}, audit.Entry{At: time.Now()})
	if err != nil { t.Fatal(err) }
	r, err := w.AddRegistration(ctx, webhook.Registration{Subscriber: sub.GUID, Pattern: "*", URL: "http://x", Enabled: true, SavedAt: time.Now()})
	if err != nil { t.Fatal(err) }
	l, _ := w.Lease(ctx, time.Hour)
	v, _ := w.Version(ctx)
	var wg sync.WaitGroup
	var mu sync.Mutex
	firsts := map[int64]int{}
	for g := range 16 {
		wg.Go(func() {
			for k := range 8 {
				first, err := w.Numbers(ctx, 8)
				if err != nil { t.Error(err); return }
				mu.Lock(); firsts[first]++; mu.Unlock()
				b := webhook.Batch{Version: v, Leases: []webhook.Lease{l}}
				for n := range int64(4) {
					e := &webhook.Event{ID: first + 2*n, GUID: fmt.Sprint(first + 2*n), Name: "x", Body: []byte("{}"), AddedAt: time.Now()}
					b.Events = append(b.Events, e)
					b.Messages = append(b.Messages, &webhook.Message{ID: first + 2*n + 1, GUID: fmt.Sprint(first + 2*n + 1), Event: e, Partition: l.Partition, Subscription: r.ID, URL: "x", State: webhook.State{Next: time.Now()}})
				}
				err = w.Write(ctx, b)
				if err != nil { t.Error(err); return }
				for _, m := range b.Messages {
					if _, err := w.Message(ctx, webhook.Address{Subscriber: sub.GUID, Subscription: r.GUID, Message: m.GUID}); err != nil {
						t.Errorf("g%d k%d message %d: %v", g, k, m.ID, err)
					}
				}
			}
		})
	}
	wg.Wait()
	for f, n := range firsts { if n > 1 { t.Errorf("first %d %d times", f, n) } }
	all, _ := w.Page(ctx, webhook.Page{Partition: l.Partition, Subscription: r.ID, InOrder: true, Limit: 10000})
	t.Log(len(all))
}
