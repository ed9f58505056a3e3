package daemon_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/mssql"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// outboxSettings are the settings of daemons that read the outbox often.
var outboxSettings = []string{
	"--webhooks-allow-targets", "127.0.0.0/8",
	"--webhooks-outbox-poll", "50ms",
	"--webhooks-attempt-timeout", "2s",
	"--webhooks-lease", "6s",
}

// TestOutboxEvents inserts events into the outbox by T-SQL. Committed events arrive once
// and in order, with two daemons, and also if they were inserted while none ran. Events
// that are rolled back do not arrive; invalid ones stay with the reason.
func TestOutboxEvents(t *testing.T) {
	for name, c := range map[string]struct {
		store  func(erp string) []string // settings
		shared bool                      // by daemons
	}{
		"one database": {
			store:  func(erp string) []string { return []string{"--store", erp, "--migrate"} },
			shared: true,
		},
		"one database, table by name": {
			store: func(erp string) []string {
				return []string{"--erp", erp, "--store", erp, "--migrate", "--erp-outbox", "[WHD].[wh_outbox]"}
			},
			shared: true,
		},
		"one database, named in two ways": {
			store: func(erp string) []string {
				return []string{
					"--erp", erp,
					"--store", strings.Replace(erp, "127.0.0.1", "localhost", 1),
					"--migrate",
				}
			},
			shared: true,
		},
		"the store in files": {
			store: func(erp string) []string {
				return []string{"--erp", erp, "--store", "sqlite", "--erp-outbox", "whd.WH_Outbox"}
			},
			shared: false,
		},
		"the store in another database": {
			store: func(erp string) []string {
				return []string{
					"--erp", erp,
					"--store", mssqltest.Database(t),
					"--migrate",
					"--erp-outbox", "whd.WH_Outbox",
				}
			},
			shared: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := mssqltest.Database(t)
			args := append(c.store(dsn), outboxSettings...)
			if slices.Contains(args, "whd.WH_Outbox") {
				createOutbox(t, dsn)
			}
			testOutboxEvents(t, dsn, c.shared, args)
		})
	}
}

// createOutbox runs outbox.sql, without the rights for other users.
func createOutbox(t *testing.T, dsn string) {
	t.Helper()
	for _, batch := range mssqltest.Batches(t, "../cmd/daemon/deploy/outbox.sql") {
		if !strings.Contains(batch, "GRANT") {
			mssqltest.Exec(t, dsn, batch)
		}
	}
}

func testOutboxEvents(t *testing.T, dsn string, shared bool, args []string) {
	dir := t.TempDir()
	first := daemontest.StartIn(t, dir, args...)
	arrivals := newOrderedReceiver(t, first)
	insert := func(bodies ...string) {
		t.Helper()
		var rows []string
		for _, body := range bodies {
			rows = append(rows, `INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'`+body+`');`)
		}
		mssqltest.Exec(t, dsn, "BEGIN TRANSACTION; "+strings.Join(rows, " ")+" COMMIT;")
	}
	var want []string
	expect := func(bodies ...string) {
		t.Helper()
		for _, body := range bodies {
			want = append(want, body)
			arrivals.await(t, body)
		}
	}
	mssqltest.Exec(t, dsn, `BEGIN TRANSACTION; INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'rolled back'); ROLLBACK;`,
		`INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'no.event', N'refused')`)
	insert("1 größer 日本", "2", "3")
	expect("1 größer 日本", "2", "3")

	second := first
	if shared {
		second = daemontest.Start(t, args...)
	}

	for n := range 20 {
		insert(fmt.Sprint("both ", 2*n), fmt.Sprint("both ", 2*n+1))
	}

	for n := range 40 {
		expect(fmt.Sprint("both ", n))
	}

	for _, d := range []*daemontest.Instance{first, second} {
		if err := d.Stop(); err != nil {
			t.Fatal(err)
		}
	}

	insert("while none runs")
	last := daemontest.StartIn(t, dir, args...)
	expect("while none runs")
	if got := strings.Join(arrivals.order, "; "); got != strings.Join(want, "; ") {
		t.Errorf("arrived %s\nwant %s", got, strings.Join(want, "; "))
	}
	if err := last.Stop(); err != nil { // deletes the rows
		t.Fatal(err)
	}

	s, err := mssql.Open(mssql.Config{DSN: dsn, Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var left int
	var reason string
	if err := s.DB().QueryRow(`SELECT COUNT(*), MAX(RefusedReason) FROM whd.WH_Outbox`).Scan(&left, &reason); err != nil || left != 1 || !strings.Contains(reason, "not a published event") {
		t.Errorf("%d rows are left, refused: %q (%v)", left, reason, err)
	}
}

// orderedReceiver records the order in which bodies arrive.
type orderedReceiver struct {
	got   <-chan delivery
	order []string
}

// newOrderedReceiver subscribes a receiver to all events, with ordered delivery.
func newOrderedReceiver(t *testing.T, i *daemontest.Instance) *orderedReceiver {
	t.Helper()
	c, err := client.New(client.Options{URL: i.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if _, err := c.Login(ctx, "admin", daemontest.AdminPassword); err != nil {
		t.Fatal(err)
	}
	shop, err := c.AddSubscriber(ctx, wire.SubscriberRequest{Name: pointer("Shop")})
	if err != nil {
		t.Fatal(err)
	}
	l := &orderedReceiver{}
	url, got := receiver(t, 200)
	l.got = got
	_, err = c.AddSubscription(ctx, shop.RecID, wire.SubscriptionRequest{
		URL:       &url,
		EventName: pointer("*"),
		Ordered:   pointer(true),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// await records bodies until one has arrived.
func (l *orderedReceiver) await(t *testing.T, body string) {
	t.Helper()
	for len(l.order) == 0 || l.order[len(l.order)-1] != body {
		select {
		case d := <-l.got:
			l.order = append(l.order, d.body)
		case <-time.After(2 * time.Minute):
			t.Fatalf("%q did not arrive after %q", body, l.order)
		}
	}
}

// TestOutboxWhileERPIsAway publishes events while the ERP's server cannot be reached.
// Those of the outbox follow when it can.
func TestOutboxWhileERPIsAway(t *testing.T) {
	dsn := mssqltest.Database(t)
	createOutbox(t, dsn)
	proxy := mssqltest.NewProxy(t, dsn)
	proxy.Down()
	i := daemontest.Start(t, append([]string{
		"--erp", proxy.DSN,
		"--store", "sqlite",
		"--erp-outbox", "whd.WH_Outbox",
	}, outboxSettings...)...)
	arrivals := newOrderedReceiver(t, i)
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "publisher")})
	if err != nil {
		t.Fatal(err)
	}
	mssqltest.Exec(t, dsn, `INSERT INTO whd.WH_Outbox (EventName, Body) VALUES (N'debtor.updated', N'of the ERP')`)
	i.Log.Await(t, "publishing events of the outbox failed")
	if _, err := c.PublishEvent(t.Context(), "debtor.created", "while it is away"); err != nil {
		t.Fatal(err)
	}
	arrivals.await(t, "while it is away")
	proxy.Up()
	arrivals.await(t, "of the ERP")
	if len(arrivals.order) != 2 {
		t.Errorf("arrived %q", arrivals.order)
	}
}
