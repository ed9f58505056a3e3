package delivery

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
)

// setLater are the fields of a message that a publication does not set: the store sets the
// ID, and attempts the others.
var setLater = []string{"ID", "Status", "Attempts", "Replay"}

// TestPublicationSetsEveryField publishes an event to a subscription, and checks that its
// message has a value in every field: a field that match does not set would be empty in
// all messages.
func TestPublicationSetsEveryField(t *testing.T) {
	now := time.Date(2026, 7, 2, 14, 2, 7, 0, time.UTC)
	p := newPublication(Post{Name: "debtor.updated", Key: "D1", Body: []byte("{}")}, now)
	p.match(webhook.NewSnapshot(1, map[int64]*webhook.Subscription{
		7: {ID: 7, GUID: "7", Pattern: "*", URL: "http://127.0.0.1/hook", Enabled: true, MadeByAdmin: true},
	}), 3, false, nil)
	if len(p.messages) != 1 {
		t.Fatalf("the publication has %d messages, want 1", len(p.messages))
	}
	message := reflect.ValueOf(*p.messages[0])
	for _, field := range reflect.VisibleFields(message.Type()) {
		if field.Name == "State" || slices.Contains(setLater, field.Name) {
			continue
		}
		if message.FieldByIndex(field.Index).IsZero() {
			t.Errorf("match (publication.go) does not set Message.%s; if only attempts set it, add it to setLater", field.Name)
		}
	}
}
