package rest_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
)

// settingsOf are the settings by name.
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

// TestSettings changes settings in every way in which members come.
func TestSettings(t *testing.T) {
	i := startWithFile(t, "[query]\nmax_take = 7\n", "--query-total", "asked")
	boss := admin(t, i)
	all := settingsOf(t, boss.do("GET /settings", ""))
	fromFile := all["query.max_take"]
	if fromFile.Value != "7" || fromFile.Default != "0" || !strings.HasSuffix(fromFile.Origin, "whd.toml:2") || fromFile.Kind != "number" || !fromFile.Changeable || fromFile.Help == "" {
		t.Errorf("%+v", fromFile)
	}
	if s := all["query.total"]; s.Changeable || s.Origin != "flag --query-total" || !strings.Contains(s.Reason, "flag --query-total") || len(s.Choices) != 3 {
		t.Errorf("%+v", s)
	}
	for _, name := range []string{"listen", "store", "admin_password"} {
		if _, there := all[name]; there {
			t.Errorf("%s is shown", name)
		}
	}
	for _, c := range []struct {
		line, body, contentType string
		name, want, origin      string
	}{
		{"PATCH /Settings", `{"Query.Max_Take":100}`, "", "query.max_take", "100", "the service"},
		{"PATCH /Settings", `{"query.max_take":"200"}`, "", "query.max_take", "200", "the service"},
		{"PATCH /Settings?query.max_take=300", `{"query.max_take":"1"}`, "", "query.max_take", "300", "the service"},
		{"PATCH /Settings", "query.max_take=400&debug=1", "application/x-www-form-urlencoded", "query.max_take", "400", "the service"},
		{"PATCH /Settings", "query.max_take,query.timeout\r\n500,1m\r\n", "text/csv", "query.timeout", "1m", "the service"},
		{"PATCH /Settings", `{"query.max_take":null}`, "", "query.max_take", "7", fromFile.Origin},
		{"PATCH /Settings?query.timeout=", "", "", "query.timeout", "30s", "default"},
		{"PATCH /Settings", `{"debug":false}`, "", "debug", "false", "the service"},
		{"PATCH /Settings", `{"webhooks.publish_from":["10.1.2.3","192.168.7.0/16"]}`, "", "webhooks.publish_from", "10.1.2.3/32,192.168.0.0/16", "the service"},
		{"PATCH /Settings", `{"webhooks.publish_from":[]}`, "", "webhooks.publish_from", "", "the service"},
		{"PATCH /Settings", `{"webhooks.publish_from":"::1, 10.0.0.1"}`, "", "webhooks.publish_from", "::1/128,10.0.0.1/32", "the service"},
		{"PATCH /Settings", `{"webhooks.publish_from":""}`, "", "webhooks.publish_from", "", "the service"},
		{"PATCH /Settings", `{"webhooks.retry_schedule":["1s","2m"]}`, "", "webhooks.retry_schedule", "1s,2m", "the service"},
		{"PATCH /Settings", `{"requestlog.max_size":2048}`, "", "requestlog.max_size", "2KiB", "the service"},
		{"PATCH /Settings", "", "", "requestlog.max_size", "2KiB", "the service"},
	} {
		a := boss.do(c.line, c.body, "Content-Type: "+c.contentType).want(t, 200)
		s := settingsOf(t, a)[c.name]
		if s.Value != c.want || s.Origin != c.origin || (s.LastSavedDateTime != "") != (c.origin == "the service") {
			t.Errorf("%s %s: %+v", c.line, c.body, s)
		}
		if got := boss.do("GET /Settings", ""); got.body != a.body {
			t.Errorf("%s: the answer is\n%s\nbut then\n%s", c.line, a.body, got.body)
		}
	}
	for _, format := range []string{".csv", ".xml", ".jsv", ".html", ".ndjson"} {
		boss.do("GET /Settings"+format, "").want(t, 200).wantMessage(t, "requestlog.max_size")
	}
}

// TestSettingsThatCannotBe: all that is wrong is said at once, and nothing has
// changed.
func TestSettingsThatCannotBe(t *testing.T) {
	i := daemontest.Start(t, "--query-total", "asked", "--auth-session", "1h", "--webhooks-lease", "45s")
	boss := admin(t, i)
	before := boss.do("GET /Settings", "").want(t, 200).body
	for body, want := range map[string]struct {
		status       int
		fields, says string
	}{
		`{"query.max_take":"many","query.timeout":30,"debug":true}`: {400, "query.max_take,query.timeout", "is not a duration"},
		`{"query.max_take":-1}`:  {400, "query.max_take", "below the least"},
		`{"query.max_take":1.5}`: {400, "query.max_take", "not a whole number"},
		`{"query.max_take":""}`:  {400, "query.max_take", "not a whole number"},
		`{"query.max_take":[]}`:  {400, "query.max_take", "not a whole number"},
		`{"query.max_take":{"a":1},"http.rate":"x","auth.queries":"some"}`: {400, "query.max_take,http.rate,auth.queries", "none of: required, anonymous"},
		`{"webhooks.events":["a.b","c.d,e.f"]}`:                            {400, "webhooks.events", "without commas"},
		`{"webhooks.events":"job"}`:                                        {400, "webhooks.events", "not the name of an event"},
		`{"webhooks.events":"a.` + strings.Repeat("b,a.c", 1000) + `"}`:    {400, "webhooks.events", "longer than 4000 bytes"},
		`{"log.levle":"debug"}`:                                            {400, "log.levle", "did you mean log.level?"},
		`{"zzz":"debug"}`:                                                  {400, "zzz", "is no setting"},
		`{"<b>":"debug"}`:                                                  {400, "***", "is no setting"},
		`{"listen":":1","HTTP.max_requests":9}`:                            {400, "listen,HTTP.max_requests", "takes a restart"},
		`{"admin_password":"x"}`:                                           {400, "admin_password", "takes a restart"},
		`{"query.max_take":1,"query.total":"always","auth.session":null}`:  {409, "query.total,auth.session", "flag --query-total"},
		`{"webhooks.attempt_timeout":"16s","query.max_take":1}`:            {400, "webhooks.attempt_timeout", "webhooks.lease is 45s"},
		`{"webhooks.attempt_timeout":"1ns","auth.remember":"1ns"}`:         {400, "webhooks.attempt_timeout,auth.remember", "1ns is below the least that works, 1s"},
		`{"webhooks.keep_failed":"1s","requestlog.days":200000}`:           {400, "webhooks.keep_failed,requestlog.days", "above the most that works, 36500"},
		`{"webhooks.events":"Webhooks.test"}`:                              {400, "webhooks.events", "the service's own"},
		`{"query.max_take":1`:                                              {400, "", "cannot be read"},
		`{"query.max_take":1,"Query.Max_Take":2}`:                          {400, "", "twice"},
	} {
		a := boss.do("PATCH /Settings", body).want(t, want.status)
		if got := a.fieldNames(t); got != want.fields || !strings.Contains(a.body, want.says) {
			t.Errorf("%s: %s\n%s, want %s, %s", body, got, shortened(a.body), want.fields, want.says)
		}
	}
	many := make(url.Values)
	for n := range 300 {
		many.Set("query.max_take"+strings.Repeat("x", n), "1")
	}
	boss.do("PATCH /Settings", many.Encode(), "Content-Type: application/x-www-form-urlencoded").want(t, 400)
	if after := boss.do("GET /Settings", "").body; after != before {
		t.Errorf("the settings are\n%s\nwere\n%s", after, before)
	}
	if e := boss.do("GET /Queries/WH_Audit?ActionStartsWith=setting", "").want(t, 200).envelope(t); len(e.Results) != 0 {
		t.Errorf("in the trail: %s", e.Results)
	}
}

// TestSettingsInTheTrail: one entry for each that changes, none for others.
func TestSettingsInTheTrail(t *testing.T) {
	i := daemontest.Start(t)
	boss := admin(t, i)
	for _, body := range []string{
		`{"query.max_take":5,"debug":true}`, `{"query.max_take":5}`, `{"query.max_take":"x","debug":false}`, `{"query.max_take":6}`, `{"query.max_take":null,"query.timeout":null}`,
	} {
		boss.do("PATCH /Settings", body)
	}
	got := boss.do("GET /Queries/WH_Audit.csv?ActionStartsWith=setting&Fields=UserName,Via,Action,Subject,Detail&OrderBy=EntryNo", "").want(t, 200).body
	const want = "UserName,Via,Action,Subject,Detail\r\n" +
		"admin,basic,setting change,query.max_take,Value=5; Was=0\r\n" +
		"admin,basic,setting change,debug,Value=true; Was=false\r\n" +
		"admin,basic,setting change,query.max_take,Value=6; Was=5\r\n" +
		"admin,basic,setting reset,query.max_take,Value=0; Was=6\r\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// change sets a setting and reports a failure.
func (c client) change(setting, json string) {
	c.t.Helper()
	c.do("PATCH /Settings", `{"`+setting+`":`+json+`}`).want(c.t, 200)
}

// TestQueriesGoBySettings: the next request goes by what was changed.
func TestQueriesGoBySettings(t *testing.T) {
	i := daemontest.Start(t, "--demo")
	boss, anybody := admin(t, i), stranger(t, i)
	anybody.do("GET /Queries/DB_Class?Take=3", "").want(t, 401)
	if role := roleSaid(t, anybody, "DB_Class"); role != "reader" {
		t.Errorf("role %q", role)
	}
	boss.change("auth.queries", `"anonymous"`)
	page := func(total int64, clamped string) {
		t.Helper()
		e := anybody.do("GET /Queries/DB_Class?Take=3", "").want(t, 200).wantHeader(t, "X-Take-Clamped", clamped).envelope(t)
		if *e.Total != total {
			t.Errorf("total %d, want %d", *e.Total, total)
		}
	}
	if role := roleSaid(t, anybody, "DB_Class"); role != "" {
		t.Errorf("role %q", role)
	}
	total := *anybody.do("GET /Queries/DB_Class", "").envelope(t).Total
	page(total, "")
	boss.change("query.total", `"asked"`)
	page(0, "")
	boss.change("query.max_take", `2`)
	page(0, "2")
	trace := func() bool {
		return strings.Contains(anybody.do("GET /Queries/DB_Class?Take=x", "").want(t, 400).body, `"StackTrace":"`)
	}
	if trace() {
		t.Error("there is a stack trace")
	}
	boss.change("debug", `true`)
	if !trace() {
		t.Error("there is no stack trace")
	}
	boss.change("auth.queries", `null`)
	anybody.do("GET /Queries/DB_Class?Take=3", "").want(t, 401)
}

// roleSaid is the role that an operation takes, as the service says.
func roleSaid(t *testing.T, c client, kind string) string {
	t.Helper()
	k, _ := record.Builtin().Lookup(kind)
	for _, o := range metadataOf(t, c).Operations {
		if o.Name == k.Operation() {
			return o.Role
		}
	}
	t.Fatalf("nothing is said of %s", kind)
	return ""
}

// TestTheTimeLimitIsASetting: without the change the query would never end.
func TestTheTimeLimitIsASetting(t *testing.T) {
	dir := t.TempDir()
	kind, _ := record.Builtin().Lookup("SY_Filters")
	makeView(t, dir, kind, silent)
	path := filepath.Join(dir, "whd.toml")
	if err := os.WriteFile(path, []byte("[query]\ntimeout = '0s'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	boss := admin(t, daemontest.StartIn(t, dir, "--config", path, "--erp-sources", kind.Name+"=the_view"))
	boss.change("query.timeout", `"50ms"`)
	boss.do("GET /Queries/SY_Filters", "").want(t, 504)
}

// TestRateIsASetting: the limit counts from the next request on, also against
// whoever has set it.
func TestRateIsASetting(t *testing.T) {
	boss := admin(t, daemontest.Start(t))
	for range 5 {
		boss.do("GET /Info", "").want(t, 200)
	}
	boss.change("http.rate", `"2/h"`)
	for _, status := range []int{200, 200, 429, 429} {
		boss.do("GET /Info", "").want(t, status)
	}
}

// TestSessionsGoBySettings: how long a login lasts.
func TestSessionsGoBySettings(t *testing.T) {
	i := daemontest.Start(t)
	boss := admin(t, i)
	expiry := func(remember string) time.Duration {
		t.Helper()
		session := read[wire.AuthenticateResponse](t, stranger(t, i).do("POST /auth", `{"UserName":"admin","Password":"`+daemontest.AdminPassword+`","RememberMe":`+remember+`}`).want(t, 200)).SessionID
		current := read[wire.CurrentSession](t, stranger(t, i).with("X-ss-id: "+session).do("GET /Sessions/Current", "").want(t, 200))
		at, err := time.Parse(wire.DateLayout, current.ExpiryDateTime)
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(at).Round(24 * time.Hour)
	}
	const day = 24 * time.Hour
	boss.change("auth.session", `"10d"`)
	if usual, long := expiry("false"), expiry("true"); usual != 10*day || long != 14*day {
		t.Errorf("%v and %v", usual, long)
	}
	boss.change("auth.remember", `"100d"`)
	if usual, long := expiry("false"), expiry("true"); usual != 10*day || long != 100*day {
		t.Errorf("%v and %v", usual, long)
	}
}

// TestEventsGoBySettings: who may raise which event, and how often its messages
// are tried.
func TestEventsGoBySettings(t *testing.T) {
	i := daemontest.Start(t)
	boss, erp := admin(t, i), stranger(t, i)
	shop := read[wire.Subscriber](t, boss.do("POST /Webhooks/Subscribers", `{"Name":"Shop","IsEnabled":false}`).want(t, 201)).RecID
	const event = `{"EventName":"job.created","Body":"x"}`
	erp.do("POST /Webhooks/Events", event).want(t, 401)
	boss.change("webhooks.publish", `"anonymous"`)
	erp.do("POST /Webhooks/Events", event).want(t, 401)
	boss.change("webhooks.publish_from", `["127.0.0.0/8"]`)
	erp.do("POST /Webhooks/Events", event).want(t, 400).wantMessage(t, "no published event")
	boss.change("webhooks.events", `"job.created"`)
	erp.do("GET /Webhooks/Events", "").want(t, 200).wantMessage(t, "job.created")
	erp.do("POST /Webhooks/Subscribers/"+shop+"/Subscriptions", `{"EventName":"job.*","URL":"https://shop.example/"}`).want(t, 201)
	if r := read[wire.EventReceipt](t, erp.do("POST /Webhooks/Events", event).want(t, 201)); r.Messages != 1 {
		t.Errorf("%+v", r)
	}
	boss.change("webhooks.retry_schedule", `["1s","2s"]`)
	erp.do("GET /Webhooks/Subscribers/"+shop+"/Messages", "").want(t, 200).wantMessage(t, `"MaxRetries":2`)
	boss.do("PATCH /Settings", `{"webhooks.events":"","webhooks.publish":null}`).want(t, 200)
	erp.do("POST /Webhooks/Events", event).want(t, 401)
	boss.do("POST /Webhooks/Events", event).want(t, 400)
}

// TestLogsGoBySettings: what the request log and the daemon's own log keep.
func TestLogsGoBySettings(t *testing.T) {
	i := daemontest.Start(t)
	boss := admin(t, i)
	boss.change("log.level", `"warn"`)
	boss.do("POST /Queries/DB_Class", `{"ClassStartsWith":"before"}`, "X-Request-Id: before").want(t, 200)
	boss.do("PATCH /Settings", `{"requestlog.bodies":true,"log.level":"debug"}`).want(t, 200)
	boss.do("POST /Queries/DB_Class", `{"ClassStartsWith":"after"}`, "X-Request-Id: after").want(t, 200)
	i.Log.Await(t, "id=after")
	log := boss.do("GET /Logs.csv?PathInfo=/Queries/DB_Class&Fields=RequestBody", "").want(t, 200).body
	if !strings.Contains(log, "after") || strings.Contains(log, "before") {
		t.Errorf("the request log has\n%s", log)
	}
}

// TestInfo is what everybody may know, and no more.
func TestInfo(t *testing.T) {
	i := daemontest.Start(t, "--query-max-take", "500", "--query-time-zone", "Australia/Perth", "--http-max-body", "2KiB")
	began := time.Now().Add(-time.Second)
	info := read[wire.Info](t, stranger(t, i).do("GET /info.json", "").want(t, 200))
	at, err := time.Parse(time.RFC3339, info.ServerTime)
	if err != nil || at.Before(began) || !at.Equal(time.Time(info.ServerDateTime)) || !strings.HasSuffix(info.ServerTime, "+08:00") {
		t.Errorf("the time is %s and %v (%v)", info.ServerTime, time.Time(info.ServerDateTime), err)
	}
	if want := (wire.Limits{MaxTake: 500, MaxIn: 2000, MaxBody: 2048, MaxEventBody: 8192, MaxStreams: 64, MaxHead: 65536}); info.Limits != want || info.Version == "" {
		t.Errorf("%+v, want %+v", info, want)
	}
	bare := read[wire.Info](t, stranger(t, daemontest.Start(t, "--webhooks-enabled=false", "--requestlog-enabled=false")).do("GET /Info", "").want(t, 200))
	for feature, there := range map[string]bool{"settings": true, "bills": true, "webhooks": false, "requestlog": false, "stream": false} {
		has := func(i wire.Info) bool {
			return strings.Contains(","+strings.Join(i.Features, ",")+",", ","+feature+",")
		}
		if has(bare) != there || !has(info) {
			t.Errorf("%s: %q with webhooks, %q without", feature, info.Features, bare.Features)
		}
	}
	if bare.Limits.MaxEventBody != 0 {
		t.Errorf("%+v", bare.Limits)
	}
}

// TestALoopbackHostURLIsSaid in the log and by /readyz, which is ready.
func TestALoopbackHostURLIsSaid(t *testing.T) {
	i := daemontest.Start(t, "--webhooks-host-url", "http://localhost:5050")
	i.Log.Await(t, "level=WARN", "webhooks.host_url is an address of this host only")
	body := stranger(t, i).do("GET /readyz", "").want(t, 200).body
	if !strings.HasPrefix(body, "ready\nwarning: webhooks.host_url is an address of this host only") || strings.Contains(body, "5050") {
		t.Errorf("got %s", body)
	}
	for _, request := range []string{"GET /Info", "GET /metadata.json"} {
		if body := stranger(t, i).do(request, "").want(t, 200).body; !strings.Contains(body, `"WebhooksHostURL":"http://localhost:5050"`) {
			t.Errorf("%s: %s", request, body)
		}
	}
}
