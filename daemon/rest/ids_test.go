package rest_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/bizhook/whd/client/wire"
)

// TestSpellingsOfIDs: conditions accept the same spellings of an ID as paths do.
func TestSpellingsOfIDs(t *testing.T) {
	m := newMessagesFixture(t)
	id := m.shops[0].GUID
	for _, spelling := range []string{
		id,
		strings.ToUpper(id),
		strings.ReplaceAll(id, "-", ""),
		"{" + id + "}",
	} {
		escaped := url.QueryEscape(spelling)
		for _, members := range []string{
			"SubscriptionID=" + escaped,
			"SubscriptionIDIn=" + escaped + ",none",
		} {
			if got := m.admin.do("GET /Webhooks/Messages?"+members, "").want(t, 200).envelope(t).Results; len(got) != 5 {
				t.Errorf("%s: %d messages, want 5", members, len(got))
			}
		}
		var found wire.MessagesRetried
		a := m.admin.do("POST /Webhooks/Messages/Retry?DryRun=true&SubscriptionID="+escaped, "").want(t, 200)
		err := json.Unmarshal([]byte(a.body), &found)
		if err != nil || found.Matched != 5 || found.Retried != 4 {
			t.Errorf("retry of %s: %+v, %v; want 4 of 5", spelling, found, err)
		}
		if got := m.admin.do("GET /Webhooks/Subscriptions?RecID="+escaped, "").want(t, 200).envelope(t).Results; len(got) != 1 {
			t.Errorf("%s: %d subscriptions, want 1", spelling, len(got))
		}
	}
}
