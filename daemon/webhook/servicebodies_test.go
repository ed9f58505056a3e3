package webhook_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// memberTypes are the types of members in the manual.
var memberTypes = map[string]string{"string": "text", "int": "number", "time.Time": "time"}

// bodyMember is a row of the manual's table of members.
type bodyMember struct {
	name, typeName, help string
	events               []string
}

// bodyMembers returns the members of the bodies of the service's own events.
func bodyMembers(t *testing.T) []bodyMember {
	bodies := webhook.ServiceBodies()
	var members []bodyMember
	for _, event := range record.ServiceEvents() {
		body := bodies[event.Name]
		if body == nil {
			t.Fatalf("the body of %s is not described", event.Name)
		}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(body)) {
			member := bodyMember{name: f.Name, typeName: memberTypes[f.Type.String()], help: f.Tag.Get("help")}
			if member.typeName == "" || member.help == "" {
				t.Errorf("%s: the member %s has the type %s and the help %q", event.Name, f.Name, f.Type, member.help)
			}
			isSame := func(m bodyMember) bool { return m.name == member.name && m.help == member.help }
			i := slices.IndexFunc(members, isSame)
			if i < 0 {
				i = len(members)
				members = append(members, member)
			}
			members[i].events = append(members[i].events, strings.TrimPrefix(event.Name, "webhooks."))
		}
	}
	return members
}

// TestServiceBodiesInManual checks that the manual has the members of the bodies of the service's own
// events.
func TestServiceBodiesInManual(t *testing.T) {
	const page = "../../cmd/daemon/docs/webhooks.md"
	manual, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	table := "| Member | Type | In the body of | Meaning |\n|---|---|---|---|\n"
	for _, m := range bodyMembers(t) {
		events := strings.Join(m.events, ", ")
		if len(m.events) == len(record.ServiceEvents()) {
			events = "all"
		}
		table += fmt.Sprintf("| `%s` | %s | %s | %s |\n", m.name, m.typeName, events, m.help)
	}
	text := strings.ReplaceAll(string(manual), "\r\n", "\n")
	if !strings.Contains(text, "\n\n"+table+"\n") {
		t.Errorf("%s lacks this table:\n%s", page, table)
	}
}

// TestTestsOfServiceEvents checks that a test of one of the service's own events has its members.
func TestTestsOfServiceEvents(t *testing.T) {
	bodies := webhook.ServiceBodies()
	for _, event := range record.ServiceEvents() {
		body, err := json.Marshal(bodies[event.Name])
		if err != nil {
			t.Fatal(err)
		}
		want := strings.TrimSuffix(string(body), "}") + `,"Test":true}`
		if got := record.SampleBody(event.Name); got != want {
			t.Errorf("the sample of %s is %s, want %s", event.Name, got, want)
		}
	}
}
