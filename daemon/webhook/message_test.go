package webhook

import (
	"reflect"
	"slices"
	"testing"
	"time"
)

// setLater are the fields of a new message that are empty: the store sets the ID, and
// attempts the others.
var setLater = []string{"ID", "Status", "Attempts", "Replay"}

// TestNewMessageSetsEveryField checks that a new message has a value in every field. A field
// that NewMessage does not set would be empty in all messages, and stored as such.
func TestNewMessageSetsEveryField(t *testing.T) {
	event := &Event{GUID: "e", Name: "debtor.updated", Key: "D1", Body: []byte("{}"), AddedAt: time.Date(2026, 7, 2, 14, 2, 7, 0, time.UTC)}
	subscription := &Subscription{ID: 7, GUID: "s", Pattern: "*", URL: "http://127.0.0.1/hook", Enabled: true, MadeByAdmin: true}
	message := reflect.ValueOf(*NewMessage("m", event, subscription, 3))
	for _, field := range reflect.VisibleFields(message.Type()) {
		if field.Name == "State" || slices.Contains(setLater, field.Name) {
			continue
		}
		if message.FieldByIndex(field.Index).IsZero() {
			t.Errorf("NewMessage does not set the field %s; if only attempts set it, add it to setLater", field.Name)
		}
	}
}
