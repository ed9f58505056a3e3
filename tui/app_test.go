package tui

import (
	"errors"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui/ui"
)

func ms(n int) time.Duration { return time.Duration(n) * time.Millisecond }

// Screens that no service is needed for, or that show that there is none.
func TestScreensWithoutService(t *testing.T) {
	i := demoDaemon(t)
	forAppearances(t, func(t *testing.T, appearance string, o Options) {
		d := drive(t, connected(t, i), o)
		d.awaitLive()
		d.press(":", "'IN_Colours", "enter")
		away := &client.Error{Kind: client.Unreachable, Message: "cannot reach http://erp01:5050: connection refused"}
		d.send(liveMsg{session: d.app.link.session, lost: away, retry: 4 * time.Second})
		d.send(whoMsg{session: d.app.Session, reply: reply{err: away}})
		d.golden("S13-offline", appearance)
		d.press("R")
		d.awaitLive()
		d.send(whoMsg{session: d.app.Session, reply: reply{err: &client.Error{Kind: client.Unauthorized, Status: http.StatusUnauthorized, Code: "Unauthorized", Message: "not signed in"}}})
		d.press("'secret")
		if strings.Contains(d.text(), "secret") {
			t.Error("the password is shown")
		}
		d.golden("S14-login", appearance)
		d.app.held = &unsent{what: "retry of salesorder.created"}
		d.app.over = d.app.login()
		d.golden("S14-login-held", appearance)
		d.press("esc")
		d.app.Fail("retry of salesorder.created", &client.Error{Kind: client.Rejected, Status: http.StatusConflict, Message: "Conflict: the message is being sent at this moment", RequestID: "7cc5e9c8cae49bb1"})
		d.app.Fail("fetching messages", &client.Error{Kind: client.TimedOut, Message: "no answer within 30s"})
		d.press("ctrl+e")
		d.golden("S00-errors", appearance)
		d.press("esc", "esc")
		d.send(d.billValue(client.BillField{BillID: "45A7XTVR", StageID: "A56V5IQ5", SettingID: "ac11c1bf"}, &wire.CustomFieldValue{SettingName: new("Colour"), Contents: new("Red")}))
		d.press("'dish")
		d.golden("S00-bill", appearance)
		d.press("ctrl+s")
		d.golden("S00-bill-question", appearance)
		d.press("esc", "esc")
		d.goldenIn([][2]int{{52, 12}, {59, 40}, {200, 14}, {20, 5}}, "S15-small", appearance)
		d.resize(1, 1)
		d.checkScreen()
	})
}

// The log of requests is filtered and opened like records.
func TestRequests(t *testing.T) {
	i := daemontest.Start(t)
	c := connected(t, i)
	for range 2 {
		if _, err := c.Subscriber(t.Context(), "nobody"); !client.Is(err, client.NotFound) {
			t.Fatal(err)
		}
	}
	d := drive(t, c, Options{})
	d.press("6", "!")
	d.until("the failed requests are there", func() bool {
		if strings.Count(d.text(), "404") < 2 {
			d.press("R")
		}
		return strings.Count(d.text(), "404") >= 2
	})
	d.sees("[StatusCode>=400]")
	d.press("enter")
	d.sees("HttpMethod", "GET")
	d.press("G")
	d.sees("RequestDuration")
	d.press("esc", "!")
	d.sees("200")
}

var presses = flag.Int("presses", 3000, "how many random keys are pressed")

// pastes are texts whose letters are keys.
var pastes = []string{"DyDyTyry", "Dear colleague\n:rw\nD\ny\n", ":ro\n", "4/a\nDy\n", "3D\ny", "WyEyny"}

// paste pastes as terminals do that mark pastes, and as those do that do not:
// piece by piece, within a moment.
func (d *driver) paste(text string) {
	d.clock = d.clock.Add(ms(300))
	d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(strings.ReplaceAll(text, "\n", " ")), Paste: true})
	d.clock = d.clock.Add(ms(300))
	for i, piece := range strings.Split(text, "\n") {
		if i > 0 {
			d.send(tea.KeyMsg{Type: tea.KeyEnter})
		}
		if piece != "" {
			d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(piece)})
		}
		d.clock = d.clock.Add(time.Millisecond)
	}
}

// Whatever is pressed and pasted, nothing is sent or deleted unless a question
// was answered with y a moment after it was asked.
func TestRandomKeysChangeNothing(t *testing.T) {
	s := startDeliveries(t)
	counter, changes := countChanges(t, s.URL)
	c, err := client.New(client.Options{URL: counter, User: "admin", Password: daemontest.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := drive(t, c, Options{Downloads: t.TempDir()})
	d.clock = time.Now()
	alphabet := []string{"enter", "esc", "tab", "up", "down", "left", "right", "pgdown", "home", "end", "space", "ctrl+d", "ctrl+s", "backspace",
		"r", "D", "T", "o", "n", "a", "v", "u", "j", "k", "G", "g", "x", "?", ":", "/", "!", "s", "=", "C", "F", "1", "2", "3", "4", "5", "6", "-", "t", "p", "c", "z", "<", ">", "[", "]", "Y", "y",
		"e", "J", "S", "U", "M", "E", "W", "i", "m", "w", "b", "q", "@", "x", "ctrl+e", "0", "$", "P", "f1"}
	random := rand.New(rand.NewPCG(8, 15))
	questions := 0
	for range *presses {
		name := alphabet[random.IntN(len(alphabet))]
		if _, asked := d.app.over.(*ui.Confirm); asked {
			if questions++; name == "y" {
				continue // that would be the answer
			}
		}
		if _, filled := d.app.over.(*ui.Form); filled {
			name = "esc" // to fill in a form is to want it
		}
		if random.IntN(20) == 0 {
			d.paste(pastes[random.IntN(len(pastes))])
			continue
		}
		d.press(name)
		d.quit = false
		if random.IntN(50) == 0 {
			d.checkScreen()
		}
	}
	if list := changes(); len(list) > 0 {
		t.Errorf("requests that change something were sent: %v", list)
	}
	if t.Logf("%d keys, %d of them before a question", *presses, questions); questions == 0 {
		t.Error("no question was ever asked")
	}
}

// countChanges stands before a service and notes every request that could change
// something.
func countChanges(t *testing.T, service string) (address string, list func() []string) {
	t.Helper()
	target, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var sent []string
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		if r.Method != http.MethodGet && !strings.HasPrefix(r.URL.Path, "/Queries/") {
			read := http.MaxBytesReader(w, r.Body, 1<<20)
			_, err := io.Copy(body, read)
			if err != nil || !strings.Contains(body.String(), `"DryRun":"true"`) {
				mu.Lock()
				sent = append(sent, r.Method+" "+r.URL.Path+" "+body.String())
				mu.Unlock()
				w.WriteHeader(http.StatusTeapot)
				return
			}
			r.Body = http.NoBody
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"Matched":1,"Retried":1,"Deleted":1,"DryRun":true}`))
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(sent)
	}
}

// What is shown as the state of the way to the service is true.
func TestStateIsTrue(t *testing.T) {
	at := time.Date(2026, 7, 1, 14, 0, 0, 0, time.UTC)
	refused := &client.Error{Kind: client.Unreachable, Message: "refused"}
	var l link
	steps := []struct {
		after int // seconds
		learn func(now time.Time)
		want  string
	}{
		{0, func(time.Time) {}, "CONNECTING"},
		{1, func(now time.Time) { l.Take(liveMsg{connected: true}, now) }, "CONNECTING"},
		{0, func(now time.Time) { l.heard(nil, now) }, "POLL 2s"},
		{1, func(now time.Time) { l.Take(liveMsg{beat: true}, now) }, "LIVE"},
		{19, func(time.Time) {}, "LIVE"},
		{1, func(time.Time) {}, "STALE 20s"},
		{1, func(now time.Time) { l.Take(liveMsg{beat: true}, now) }, "LIVE"},
		{1, func(now time.Time) { l.Take(liveMsg{lost: refused, retry: 4 * time.Second}, now) }, "POLL 2s"},
		{1, func(now time.Time) { l.heard(refused, now) }, "OFFLINE retry 3s"},
		{4, func(time.Time) {}, "OFFLINE"},
		{1, func(now time.Time) { l.heard(nil, now) }, "POLL 2s"},
		{1, func(now time.Time) { l.Take(liveMsg{connected: true, beat: true}, now) }, "LIVE"},
		{1, func(now time.Time) { l.heard(&client.Error{Kind: client.Unauthorized, Status: 401}, now) }, "AUTH"},
		{1, func(now time.Time) { l.heard(errors.New("anything else"), now) }, "AUTH"},
		{1, func(now time.Time) { l.Take(liveMsg{beat: true}, now) }, "AUTH"}, // a stream outlives its session for a moment
		{1, func(now time.Time) { l.Take(liveMsg{connected: true, beat: true}, now) }, "LIVE"},
		{1, func(now time.Time) { l.paused = true; l.Take(liveMsg{requests: 37}, now) }, "PAUSED +37"},
	}
	for i, s := range steps {
		at = at.Add(time.Duration(s.after) * time.Second)
		s.learn(at)
		if got := l.word(at); got != s.want {
			t.Errorf("step %d: %s, want %s", i+1, got, s.want)
		}
	}
}
