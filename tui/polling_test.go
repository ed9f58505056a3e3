package tui_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/screens/messages"
	"github.com/bizhook/whd/tui/tuitest"
)

// A user with another role than admin starts at the records, which are polled. Tabs and
// keys that it cannot use have a reason, and no request is refused.
func TestRoleSeesPermittedScreensOnly(t *testing.T) {
	i := tuitest.DemoDaemon(t)
	target, err := url.Parse(i.URL)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var refused []string
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		mu.Lock()
		if r.StatusCode >= 400 {
			refused = append(refused, r.Status+" "+r.Request.Method+" "+r.Request.URL.Path)
		}
		mu.Unlock()
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	c, err := client.New(client.Options{URL: server.URL, Token: i.Key(t, "reader")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := tuitest.Drive(t, c, tui.Options{})
	d.WantText(" Records ", "POLL 2s", " RO ", "DB_Class")
	for key, name := range map[string]string{"1": "Home", "3": "Subscribers", "4": "Messages", "6": "Requests"} {
		d.Press(key)
		d.WantText(name+": requires the role admin; yours is reader", " Records ")
	}
	d.ClickOn("Messages")
	d.WantText("Messages: requires the role admin")
	if view := d.App.View(); !strings.Contains(view, "\x1b[90m4 Messages\x1b[0m") || strings.Contains(view, "\x1b[90m5 Events") {
		t.Errorf("tabs are not grey, or too many: %q", view)
	}
	for _, command := range []string{"messages", "why D1", "bill"} {
		d.Press(":", "'"+command, "enter", "esc")
	}
	d.Press("5", "enter", "S", "n")
	d.WantText(" Events ", "debtor.created", "requires the role admin; yours is reader   (subscribe)")
	d.Press(":", "'DB_Class", "enter", "w")
	d.WantText("requires the role admin; yours is reader   (")
	before := d.App.Front().(*browse.Browser).Rows.Pages.Generation()
	d.Advance(60 * time.Second)
	d.WantText("POLL 2s", "row 1 of 14")
	if after := d.App.Front().(*browse.Browser).Rows.Pages.Generation(); after == before {
		t.Error("rows were not polled")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(refused) > 0 {
		t.Errorf("requests were refused: %v", refused)
	}
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
	c, err := client.New(client.Options{URL: i.URL, Token: i.Key(t, "reader")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	d := tuitest.Drive(t, c, tui.Options{})
	d.WantText("DB_Class", "POLL 2s")
	d.Press(":", "'changes DB_Class", "enter", "x")
	if line := d.LineWith(" w "); !strings.Contains(line, "requires the role admin; yours is reader") {
		t.Errorf("no reason: %q", line)
	}
}
