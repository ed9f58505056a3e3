package tui_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/daemontest"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/tuitest"
)

// A user with another role than admin starts at the records, which are polled. Tabs and
// keys that it cannot use have a reason, and no request is refused.
func TestRoleSeesPermittedScreensOnly(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	address, refused := recordRefusals(t, i.URL)
	d := tuitest.Drive(t, connectAsReader(t, i, address), tui.Options{})
	d.WantText(" Records ", "POLL 2s", " RO ", "DB_Class")

	// Other tabs are grey, and cannot be opened.
	for key, name := range map[string]string{"1": "Home", "3": "Subscribers", "4": "Messages", "6": "Requests"} {
		d.Press(key)
		d.WantText(name+": requires the role admin; yours is reader", " Records ")
	}
	d.ClickOn("Messages")
	d.WantText("Messages: requires the role admin")
	view := d.App.View()
	dim := d.App.Session.Theme.Paint(theme.Dim, "4 Messages")
	if !strings.Contains(view, dim) {
		t.Errorf("Messages is not dim: %q", view)
	}
	if strings.Contains(view, strings.Replace(dim, "4 Messages", "5 Events", 1)) {
		t.Errorf("Events is dim: %q", view)
	}

	// Keys and commands that need the role have a reason.
	for _, command := range []string{"messages", "why D1", "bill"} {
		d.Press(":", "'"+command, "enter", "esc")
	}
	d.Press("5", "enter", "S", "n")
	d.WantText(" Events ", "debtor.created", "requires the role admin; yours is reader   (subscribe)")
	d.Press(":", "'DB_Class", "enter", "w")
	d.WantText("requires the role admin; yours is reader   (")

	pages := d.App.Front().(*browse.Browser).Rows.Pages
	before := pages.Generation()
	d.Advance(time.Minute)
	d.WantText("POLL 2s", "1 of 14")
	if pages.Generation() == before {
		t.Error("the rows were not polled within a minute")
	}
	if list := refused(); len(list) > 0 {
		t.Errorf("the service has refused %q, want no such requests", list)
	}
}

// recordRefusals runs a proxy for a service that records the requests that the service refuses.
func recordRefusals(t *testing.T, service string) (address string, refused func() []string) {
	t.Helper()
	target, err := url.Parse(service)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var list []string
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // the screens cancel streams
	proxy.ModifyResponse = func(r *http.Response) error {
		mu.Lock()
		defer mu.Unlock()
		if r.StatusCode >= 400 {
			list = append(list, r.Status+" "+r.Request.Method+" "+r.Request.URL.Path)
		}
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

// Once the password was rejected, the screens send no more requests with it: they would use up the
// attempts to sign in, which the service limits.
func TestRejectedPasswordIsNotSentInBackground(t *testing.T) {
	for _, tab := range []string{"2", "3", "4"} {
		t.Run("tab "+tab, func(t *testing.T) {
			s := tuitest.StartDeliveries(t)
			addUser(t, s, "admin")
			address, refused := recordRefusals(t, s.URL)
			c, err := client.New(client.Options{URL: address, User: "wes", Password: wesPassword})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			s.Client = c
			d := s.Open(t, tui.Options{})
			d.Press("5")
			endSessions(t, s)
			d.Press(tab)
			d.WantText("Sign in to", "SIGN IN")

			before := len(refused())
			d.Advance(time.Minute)
			if list := refused()[before:]; len(list) > 0 {
				t.Errorf("within a minute after the password was rejected, the service has refused %q, "+
					"want no requests", list)
			}
			before = len(refused())
			d.Press("esc")
			for _, key := range []string{"1", "2", "3", "4", "5", "6", "R", "esc", "enter", "esc"} {
				d.Press(key)
				d.Advance(time.Second)
			}
			if list := refused()[before:]; len(list) > 0 {
				t.Errorf("after keys, the service has refused %q, want no requests", list)
			}
			d.Press("R")
			fillSignIn(d, "wes", wesPassword+" and new")
			d.WantText("signed in as wes", "RW")
			d.WantNoText("SIGN IN")
		})
	}
}

// connectAsReader returns a client with the role reader of a daemon, under its address or that of
// a proxy.
func connectAsReader(t *testing.T, i *daemontest.Instance, address string) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{URL: address, Token: i.Key(t, "reader")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// Hidden screens refresh when they are shown after changes were missed.
func TestHiddenScreensRefreshAfterMissedChanges(t *testing.T) {
	s := tuitest.StartDeliveries(t)
	d := s.Open(t, tui.Options{})
	d.Press("4")
	list := d.App.Front().(*messages.List)
	for name, miss := range map[string]func(){
		"a reset": func() { d.Live(tui.LiveMsg{Beat: true, Reset: true}) },
		"a pause": func() {
			d.Press("p")
			d.Live(tui.LiveMsg{Beat: true, Changes: make([]wire.MessageChange, 3)})
			d.Press("p")
		},
	} {
		d.Press("1")
		before := list.Pages.Generation()
		miss()
		d.Press("4")
		if list.Pages.Generation() == before {
			t.Errorf("after %s the rows are unchanged", name)
		}
	}
	d.Press("1")
	before := list.Pages.Generation()
	d.Press("4")
	if list.Pages.Generation() != before {
		t.Error("current rows were fetched again")
	}
}

// The history of a key is grey in the list of changes, which a reader may open.
func TestReaderSeesWhyHistoryIsGrey(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	d := tuitest.Drive(t, connectAsReader(t, i, i.URL), tui.Options{})
	d.WantText("DB_Class", "POLL 2s")
	d.Press(":", "'changes DB_Class", "enter", "x")
	const reason = "requires the role admin; yours is reader"
	if line := d.LineWith(" w "); !strings.Contains(line, reason) {
		t.Errorf("the row of the history in the menu is %q, want %q in it", line, reason)
	}
}
