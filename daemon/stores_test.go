package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/cmd/daemon/whd"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/daemon/demo"
	"github.com/bizhook/whd/daemon/mssql/mssqltest"
)

// use is a user of a daemon with demo records, a receiver of its events included.
type use struct {
	onServer
	*daemontest.Instance
	admin  *client.Client
	target string
	got    <-chan delivery
}

// newUse starts a daemon on the directory o.dir.
func newUse(o onServer, args ...string) *use {
	u := &use{onServer: o}
	u.target, u.got = receiver(o.t, 200)
	u.start(args...)
	return u
}

func (u *use) start(args ...string) {
	u.t.Helper()
	u.Instance = daemontest.StartIn(u.t, u.dir, append([]string{
		"--webhooks-allow-targets", "127.0.0.0/8",
	}, args...)...)
	u.admin = signedIn(u.t, u.Instance)
}

func (u *use) restart(args ...string) {
	u.t.Helper()
	if err := u.Stop(); err != nil {
		u.t.Fatal(err)
	}
	u.start(args...)
}

// as sends a request with the admin's password.
func (u *use) as(line, body string) (status int, text string) {
	u.t.Helper()
	method, path, _ := strings.Cut(line, " ")
	r := u.request(method, u.URL+path, body)
	r.SetBasicAuth("admin", daemontest.AdminPassword)
	return u.send(r)
}

func (u *use) expectAs(line, body string, status int, want string) {
	u.t.Helper()
	if got, text := u.as(line, body); got != status || !strings.Contains(text, want) {
		u.t.Errorf("%s: status %d, %.300s\nwant %d, %q", line, got, text, status, want)
	}
}

// queries reads every record kind, and one of them in every format.
func (u *use) queries() {
	u.t.Helper()
	for _, kind := range record.Builtin().Kinds() {
		u.expectAs("GET /Queries/"+kind.Name+"?Take=1&Include=Total", "", 200, `"Results":[{`)
	}
	for _, format := range []string{"json", "ndjson", "csv", "xml", "jsv", "html", "xlsx"} {
		u.expectAs("GET /Queries/DB_Class."+format+"?Take=1", "", 200, "")
	}
}

// subscribe creates a subscriber and a subscription to all events.
func (u *use) subscribe() {
	u.t.Helper()
	shop, err := u.admin.AddSubscriber(u.t.Context(), wire.SubscriberRequest{Name: pointer("Shop")})
	if err == nil {
		_, err = u.admin.AddSubscription(u.t.Context(), shop.RecID, wire.SubscriptionRequest{
			URL:       &u.target,
			EventName: pointer("*"),
		})
	}
	if err != nil {
		u.t.Fatal(err)
	}
}

// publish publishes an event and waits for its delivery.
func (u *use) publish(body string) {
	u.t.Helper()
	if _, err := u.admin.PublishEvent(u.t.Context(), "debtor.updated", body); err != nil {
		u.t.Fatal(err)
	}
	if d := await(u.t, u.got); d.body != body {
		u.t.Errorf("delivered %q, want %q", d.body, body)
	}
}

// updateBill changes the demo bill, and reads it if the status is 200.
func (u *use) updateBill(contents string, status int, want string) {
	u.t.Helper()
	bill, stage, setting := demo.BillExample()
	path := " /Bills/" + bill + "/Stages/" + stage + "/CustomFieldValues/" + setting
	u.expectAs("GET"+path, "", 200, `"Contents":`)
	u.expectAs("PATCH"+path, `{"Contents":"`+contents+`"}`, status, want)
	if status == http.StatusOK {
		u.expectAs("GET"+path, "", 200, `"Contents":"`+contents+`"`)
	}
}

// TestStores uses a daemon with each combination of the settings erp and store, before and
// after a restart, and with the single setting of earlier versions.
func TestStores(t *testing.T) {
	combination := func(t *testing.T, args ...string) *use {
		u := newUse(onServer{t, t.TempDir(), ""}, args...)
		u.subscribe()
		for n := range 2 {
			text := fmt.Sprint("start ", n)
			u.queries()
			u.updateBill(text, 200, text)
			u.publish(text)
			u.expectAs("GET /readyz", "", 200, "ready\n")
			u.restart(args...)
		}
		u.publish("after the last start")
		return u
	}

	former := func(u *use) bool {
		return strings.Contains(u.Log.String(), "a setting of an earlier version still has its effect")
	}
	t.Run("demo, sqlite", func(t *testing.T) {
		if u := combination(t, "--demo"); former(u) {
			t.Error("a setting of an earlier version was noticed")
		}
	})
	t.Run("with a server", func(t *testing.T) {
		o := newOnServer(t)
		o.do(0, "demo records", "demo")
		t.Run("demo, server", func(t *testing.T) {
			combination(t, "--demo", "--erp", "demo", "--store", mssqltest.Database(t), "--migrate")
		})
		t.Run("server, sqlite", func(t *testing.T) {
			combination(t, "--erp", o.dsn)
			n := mssqltest.Count(t, o.dsn,
				"SELECT CASE WHEN SCHEMA_ID(N'whd') IS NULL THEN 0 ELSE 1 END")
			if n != 0 {
				t.Error("the ERP's database has a schema whd")
			}
		})
		t.Run("server, server", func(t *testing.T) {
			u := combination(t, "--erp", o.dsn, "--store", o.dsn, "--migrate")
			if former(u) {
				t.Error("a setting of an earlier version was noticed")
			}
			u.restart("--store", o.dsn) // the single setting of earlier versions
			u.queries()
			u.publish("with the former setting")
			u.Log.Await(t, "a setting of an earlier version still has its effect", "setting=store", "erp")
		})
	})
}

// TestERPForgotten checks that a service in use does not start with demo records because the
// setting erp was forgotten.
func TestERPForgotten(t *testing.T) {
	dir := t.TempDir()
	daemontest.Prepare(t, dir, "--demo") // the last start would load the demo
	i, err := daemontest.Open(dir, "--erp", "demo", "--store", "sqlite")
	if err != nil {
		t.Fatal(err)
	}

	c := signedIn(t, i)
	if _, err := c.AddSubscriber(context.Background(), wire.SubscriberRequest{Name: pointer("Shop")}); err != nil {
		t.Fatal(err)
	}
	if err := i.Stop(); err != nil {
		t.Fatal(err)
	}

	expectRefused := func(dir string, env ...string) {
		t.Helper()
		var stderr strings.Builder
		status := whd.Main(whd.Process{
			Args:   []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dir},
			Env:    env,
			Stdin:  strings.NewReader(""),
			Stdout: t.Output(),
			Stderr: &stderr,
		})
		if status != 2 || !strings.Contains(stderr.String(), "setting erp: it is not set") {
			t.Errorf("%q: status %d, %s", env, status, &stderr)
		}
	}
	expectRefused(dir)
	for _, args := range [][]string{{"--erp", "demo"}, {"--demo", "--store", "sqlite"}} {
		i, err := daemontest.Open(dir, args...)
		if err != nil {
			t.Errorf("%q: %v", args, err)
		} else if err := i.Stop(); err != nil {
			t.Error(err)
		}
	}

	expectRefused(dir) // not remembered
	managed(t, func(env string) { expectRefused(t.TempDir(), env) })
}

// TestRestartWithoutERP checks that a service that was first started without the setting erp
// starts again once it has a subscriber, with a warning, and still refuses to run as a
// registered service.
func TestRestartWithoutERP(t *testing.T) {
	dir := t.TempDir()
	for start := range 3 {
		i, err := daemontest.Open(dir, "--store", "sqlite")
		if err != nil {
			t.Fatalf("start %d: %v", start+1, err)
		}
		if start == 0 {
			_, err := signedIn(t, i).AddSubscriber(t.Context(),
				wire.SubscriberRequest{Name: pointer("Shop")})
			if err != nil {
				t.Error(err)
			}
		} else {
			i.Log.Await(t, "the setting erp is not set; queries return demo records")
		}
		if err := i.Stop(); err != nil {
			t.Fatal(err)
		}
	}

	managed(t, func(env string) {
		var stderr strings.Builder
		status := whd.Main(whd.Process{
			Args:   []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", dir},
			Env:    []string{env},
			Stdin:  strings.NewReader(""),
			Stdout: t.Output(),
			Stderr: &stderr,
		})
		if status != 2 || !strings.Contains(stderr.String(), "setting erp: it is not set") {
			t.Errorf("%s: got status %d, %s, want 2", env, status, &stderr)
		}
	})
}

// report is the output of whd check --format json with settings in the environment.
func (u *use) report(status int, env ...string) (r checkReport) {
	u.t.Helper()
	var out, stderr strings.Builder
	got := whd.Main(whd.Process{
		Args:   []string{"check", "--format", "json", "--data-dir", u.dir},
		Env:    env,
		Stdin:  strings.NewReader(""),
		Stdout: &out,
		Stderr: &stderr,
	})
	if err := json.Unmarshal([]byte(out.String()), &r); err != nil || got != status {
		u.t.Fatalf("status %d, want %d, %v: %s%s", got, status, err, &out, &stderr)
	}
	return r
}
