package messages_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/tuitest"
)

// The history of a key opens from a message, and by the command why.
func TestWhy(t *testing.T) {
	s := tuitest.StartReceiver(t, tuitest.RespondWith(http.StatusServiceUnavailable))
	s.Subscribe(t, "debtor.updated", s.Receiver+"/erp?key=of-the-receiver")
	s.PublishPost(t, wire.EventPost{EventName: "debtor.updated", Key: "D 4711", Body: "{}"}, 2)
	s.Publish(t, "debtor.updated", "{}", 2)
	d := s.Open(t, tui.Options{Appearance: tui.Appearance{Theme: theme.Dark}})
	d.Resize(140, 30)
	d.Press("4", "w")
	d.WantText("the event of this message has no key")
	d.Press("down", "w")
	d.WantText("Why D 4711", "event", "debtor.updated", "message", "/erp?..", "now")
	d.Golden("S10-why", "colour")
	d.Resize(140, 30)
	d.Press("enter")
	d.WantText("Key=", "4711")
	d.Press("esc", "esc", ":", "'why none", "enter")
	d.WantText("Why none", "not captured", "no event")
	page, err := s.Client.AllMessages(t.Context(), url.Values{"Key": {"D 4711"}})
	if err != nil {
		t.Fatal(err)
	}
	id := page.Results[0].MessageID
	for _, text := range []string{id, id[:8] + ".." + id[len(id)-4:]} {
		d.Press("esc", ":", "'why "+text, "enter")
		d.WantText("Why "+id[:8], "debtor.updated", "503 Service Unavailable", "retrying")
	}
}
