package delivery

import "testing"

// history measures how long other views of the messages take while their number grows: their
// attempts, and lists that neither a subscriber nor a status selects.
func history(s *suite, b *testing.B) {
	if !s.table.usageAvailable(b) {
		return
	}
	last := lastListSize()
	s.addLists(b, measureLists(b, startDaemon(b), last, listsOfHistory), last)
}

// listsOfHistory returns the lists of D20.
func listsOfHistory(subscriber string) []*listRequest {
	return []*listRequest{
		{title: "newest 10 attempts of a subscriber", metric: "attempts", path: subscriber + "/Responses?Take=10"},
		{title: "newest 10 attempts of all", metric: "all-attempts", path: "/Webhooks/Messages/Responses?Take=10"},
		{title: "newest 10 messages of an event", metric: "event", path: "/Webhooks/Messages?EventName=" + event(0) + "&Take=10"},
		{title: "newest 10 of an event without messages", metric: "no-event", path: "/Webhooks/Messages?EventName=debtor.never&Take=10"},
		{title: "10 messages by time", metric: "time", path: "/Webhooks/Messages?OrderBy=AddedDateTime&Take=10"},
		{title: "newest 10 of an hour long ago", metric: "hour", path: "/Webhooks/Messages?Since=2020-01-01T00:00:00Z&Until=2020-01-01T01:00:00Z&Take=10"},
	}
}
