package rest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// settingsOf returns the settings by name.
func settingsOf(t testing.TB, a answer) map[string]wire.Setting {
	t.Helper()
	byName := make(map[string]wire.Setting)
	for _, s := range read[[]wire.Setting](t, a.want(t, 200)) {
		byName[s.Name] = s
	}
	return byName
}

// startWithFile runs a daemon with a settings file.
func startWithFile(t *testing.T, toml string, args ...string) *daemontest.Instance {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "whd.toml")
	if err := os.WriteFile(path, []byte(toml), 0o600); err != nil {
		t.Fatal(err)
	}
	return daemontest.StartIn(t, dir, append(args, "--config", path)...)
}

// TestSettings checks the list of changeable settings.
func TestSettings(t *testing.T) {
	i := startWithFile(t, "[query]\nmax_take = 7\n", "--query-total", "asked")
	boss := asAdmin(t, i)
	all := settingsOf(t, boss.do("GET /settings", ""))
	fromFile := all["query.max_take"]
	if fromFile.Value != "7" || fromFile.Default != "0" || !strings.HasSuffix(fromFile.Origin, "whd.toml:2") ||
		fromFile.Kind != "number" || fromFile.Help == "" {
		t.Errorf("query.max_take is %+v, want the number 7 from line 2 of whd.toml", fromFile)
	}
	if s := all["query.total"]; s.Origin != "flag --query-total" || len(s.Choices) != 3 {
		t.Errorf("query.total is %+v, want a flag as its origin and three choices", s)
	}
	for _, name := range []string{"listen", "store", "admin_password"} {
		if _, there := all[name]; there {
			t.Errorf("%s is shown", name)
		}
	}
	i.Set(t, "query.max_take", "8")
	s := settingsOf(t, boss.do("GET /Settings", ""))["query.max_take"]
	if s.Value != "8" || s.Origin != "variable WHD_QUERY_MAX_TAKE" {
		t.Errorf("query.max_take is %+v, want 8 from a variable", s)
	}
	for _, format := range []string{".csv", ".xml", ".jsv", ".html", ".ndjson"} {
		boss.do("GET /Settings"+format, "").want(t, 200).wantMessage(t, "requestlog.max_size")
	}
	boss.do("PATCH /Settings", `{"query.max_take":5}`).want(t, 405)
}

// TestQuerySettings checks that the next query uses changed settings.
func TestQuerySettings(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	anonymous := anonymous(t, i)
	anonymous.do("GET /Queries/DB_Class?Take=3", "").want(t, 401)
	if role := documentedRole(t, anonymous, "DB_Class"); role != "reader" {
		t.Errorf("role %q", role)
	}

	i.Set(t, "auth.queries", "anonymous")
	page := func(total int64, clamped string) {
		t.Helper()
		e := anonymous.do("GET /Queries/DB_Class?Take=3", "").want(t, 200).
			wantHeader(t, "X-Take-Clamped", clamped).envelope(t)
		if *e.Total != total {
			t.Errorf("total %d, want %d", *e.Total, total)
		}
	}

	if role := documentedRole(t, anonymous, "DB_Class"); role != "" {
		t.Errorf("role %q", role)
	}

	total := *anonymous.do("GET /Queries/DB_Class", "").envelope(t).Total
	page(total, "")
	i.Set(t, "query.total", "asked")
	page(0, "")
	i.Set(t, "query.max_take", "2")
	page(0, "2")
	trace := func() bool {
		return strings.Contains(anonymous.do("GET /Queries/DB_Class?Take=x", "").want(t, 400).body, `"StackTrace":"`)
	}
	if trace() {
		t.Error("unexpected stack trace")
	}

	i.Set(t, "debug", "true")
	if !trace() {
		t.Error("missing stack trace")
	}

	i.Set(t, "auth.queries", "")
	anonymous.do("GET /Queries/DB_Class?Take=3", "").want(t, 401)
}

// documentedRole returns the documented role of a kind's query.
func documentedRole(t *testing.T, c client, kind string) string {
	t.Helper()
	k, _ := record.Builtin().Lookup(kind)
	for _, o := range metadataOf(t, c).Operations {
		if o.Name == k.Operation() {
			return o.Role
		}
	}
	t.Fatalf("no operation for %s", kind)
	return ""
}

// TestTimeLimitSetting would never end without the change.
func TestTimeLimitSetting(t *testing.T) {
	dir := t.TempDir()
	kind, _ := record.Builtin().Lookup("SY_Filters")
	daemontest.Prepare(t, dir)
	makeView(t, dir, kind, noRows)
	path := filepath.Join(dir, "whd.toml")
	if err := os.WriteFile(path, []byte("[query]\ntimeout = '0s'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	i := daemontest.StartIn(t, dir, "--config", path, "--erp-sources", kind.Name+"=the_view")
	boss := asAdmin(t, i)
	i.Set(t, "query.timeout", "50ms")
	boss.do("GET /Queries/SY_Filters", "").want(t, 504)
}

// TestRateSetting checks that a new rate limit applies from the next request on,
// including those of admins.
func TestRateSetting(t *testing.T) {
	i := daemontest.Start(t)
	boss := asAdmin(t, i)
	for range 5 {
		boss.do("GET /Info", "").want(t, 200)
	}
	i.Set(t, "http.rate", "2/h")
	for _, status := range []int{200, 200, 429, 429} {
		boss.do("GET /Info", "").want(t, status)
	}
}

// TestSessionSettings checks the settings of the session lifetime.
func TestSessionSettings(t *testing.T) {
	i := daemontest.Start(t)
	expiry := func(remember string) time.Duration {
		t.Helper()
		session := read[wire.AuthenticateResponse](t,
			anonymous(t, i).do("POST /auth",
				`{"UserName":"admin","Password":"`+daemontest.AdminPassword+`","RememberMe":`+remember+`}`).want(t, 200)).SessionID
		current := read[wire.CurrentSession](t,
			anonymous(t, i).with("X-ss-id: "+session).do("GET /Sessions/Current", "").want(t, 200))
		at, err := time.Parse(wire.DateLayout, current.ExpiryDateTime)
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(at).Round(24 * time.Hour)
	}
	const day = 24 * time.Hour
	i.Set(t, "auth.session", "10d")
	if usual, long := expiry("false"), expiry("true"); usual != 10*day || long != 14*day {
		t.Errorf("%v and %v", usual, long)
	}
	i.Set(t, "auth.remember", "100d")
	if usual, long := expiry("false"), expiry("true"); usual != 10*day || long != 100*day {
		t.Errorf("%v and %v", usual, long)
	}
}

// TestEventSettings checks the settings of published events and of retries.
func TestEventSettings(t *testing.T) {
	i := daemontest.Start(t)
	boss, erp := asAdmin(t, i), anonymous(t, i)
	shop := read[wire.Subscriber](t, boss.do("POST /Webhooks/Subscribers",
		`{"Name":"Shop","IsEnabled":false}`).want(t, 201)).RecID
	const event = `{"EventName":"job.created","Body":"x"}`
	erp.do("POST /Webhooks/Events", event).want(t, 401)
	i.Set(t, "webhooks.publish", "anonymous")
	erp.do("POST /Webhooks/Events", event).want(t, 401)
	i.Set(t, "webhooks.publish_from", "127.0.0.0/8")
	erp.do("POST /Webhooks/Events", event).want(t, 400).wantMessage(t, "not a published event")
	i.Set(t, "webhooks.events", "job.created")
	erp.do("GET /Webhooks/Events", "").want(t, 200).wantMessage(t, "job.created")
	erp.do("POST /Webhooks/Subscribers/"+shop+"/Subscriptions",
		`{"EventName":"job.*","URL":"https://shop.example/"}`).want(t, 201)
	if r := read[wire.EventReceipt](t, erp.do("POST /Webhooks/Events", event).want(t, 201)); r.Messages != 1 {
		t.Errorf("publishing returned %+v, want one message", r)
	}
	i.Set(t, "webhooks.retry_schedule", "1s,2s")
	erp.do("GET /Webhooks/Subscribers/"+shop+"/Messages", "").want(t, 200).wantMessage(t, `"MaxRetries":2`)
	i.Set(t, "webhooks.events", "")
	i.Set(t, "webhooks.publish", "")
	erp.do("POST /Webhooks/Events", event).want(t, 401)
	boss.do("POST /Webhooks/Events", event).want(t, 400)
}

// TestLogSettings checks the settings of the request log and of the daemon's
// log.
func TestLogSettings(t *testing.T) {
	i := daemontest.Start(t)
	boss := asAdmin(t, i)
	i.Set(t, "log.level", "warn")
	boss.do("POST /Queries/DB_Class", `{"ClassStartsWith":"before"}`, "X-Request-Id: before").want(t, 200)
	i.Set(t, "requestlog.bodies", "true")
	i.Set(t, "log.level", "debug")
	boss.do("POST /Queries/DB_Class", `{"ClassStartsWith":"after"}`, "X-Request-Id: after").want(t, 200)
	i.Log.Await(t, "id=after")
	log := boss.do("GET /Logs.csv?PathInfo=/Queries/DB_Class&Fields=RequestBody", "").want(t, 200).body
	if !strings.Contains(log, "after") || strings.Contains(log, "before") {
		t.Errorf("unexpected request log\n%s", log)
	}
}

// TestInfo checks the public information of the service.
func TestInfo(t *testing.T) {
	i := daemontest.Start(t, "--query-max-take", "500", "--query-time-zone", "Australia/Perth",
		"--http-max-body", "2KiB")
	began := time.Now().Add(-time.Second)
	info := read[wire.Info](t, anonymous(t, i).do("GET /info.json", "").want(t, 200))
	at, err := time.Parse(time.RFC3339, info.ServerTime)
	if err != nil || at.Before(began) || !at.Equal(time.Time(info.ServerDateTime)) ||
		!strings.HasSuffix(info.ServerTime, "+08:00") {
		t.Errorf("unexpected time %s and %v (%v)", info.ServerTime, time.Time(info.ServerDateTime), err)
	}

	if want := (wire.Limits{
		MaxTake:      500,
		MaxIn:        2000,
		MaxBody:      2048,
		MaxEventBody: 8192,
		MaxStreams:   64,
		MaxHead:      65536,
	}); info.Limits != want || info.Version == "" {
		t.Errorf("%+v, want %+v", info, want)
	}

	bare := read[wire.Info](t, anonymous(t,
		daemontest.Start(t, "--webhooks-enabled=false",
			"--requestlog-enabled=false")).do("GET /Info", "").want(t, 200))
	for feature, there := range map[string]bool{
		"settings":   true,
		"bills":      true,
		"webhooks":   false,
		"requestlog": false,
		"stream":     false,
	} {
		has := func(i wire.Info) bool {
			return strings.Contains(","+strings.Join(i.Features, ",")+",", ","+feature+",")
		}
		if has(bare) != there || !has(info) {
			t.Errorf("%s: %q with webhooks, %q without", feature, info.Features, bare.Features)
		}
	}
	if bare.Limits.MaxEventBody != 0 {
		t.Errorf("without webhooks the limits are %+v, want none for events", bare.Limits)
	}
}

// TestLoopbackHostURLWarning checks the warning in the log and in /readyz, which is
// ready.
func TestLoopbackHostURLWarning(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-host-url", "http://localhost:5050")
	i.Log.Await(t, "level=WARN", "webhooks.host_url is a loopback address")
	body := anonymous(t, i).do("GET /readyz", "").want(t, 200).body
	if !strings.HasPrefix(body, "ready\nwarning: webhooks.host_url is a loopback address") ||
		strings.Contains(body, "5050") {
		t.Errorf("got %s", body)
	}
	for _, request := range []string{"GET /Info", "GET /metadata.json"} {
		body := anonymous(t, i).do(request, "").want(t, 200).body
		if !strings.Contains(body,
			`"WebhooksHostURL":"http://localhost:5050"`) {
			t.Errorf("%s returned %s, want the URL of the service", request, body)
		}
	}
}
