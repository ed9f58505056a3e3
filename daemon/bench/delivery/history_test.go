package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// history measures how long other views of the messages take while their number grows: their
// attempts, and lists that neither a subscriber nor a status selects.
func history(s *suite, b *testing.B) {
	if !s.table.UsageAvailable(b) {
		return
	}
	last := lastListSize()
	s.addLists(b, measureLists(b, startDaemon(b), last, listsOfHistory), last)
}

// historyOnServer measures the same with a store on SQL Server.
func historyOnServer(s *suite, b *testing.B) { s.measureOnServer(b, listsOfHistory) }

// listsOfHistory returns the lists of D20.
func listsOfHistory(subscriber string) []*listRequest {
	return []*listRequest{
		{title: "newest 10 attempts of a subscriber", metric: "attempts", path: subscriber + "/Responses?Take=10"},
		{title: "newest 10 attempts of all", metric: "all-attempts", path: "/Webhooks/Messages/Responses?Take=10"},
		{title: "10 messages of a subscriber by cursor behind nine tenths", metric: "cursor", path: subscriber + "?Include=NoTotal", isDeep: true},
		{title: "10 messages of all by cursor behind nine tenths", metric: "all-cursor", path: "/Webhooks/Messages?Include=NoTotal", isDeep: true},
		{title: "newest 10 messages of an event", metric: "event", path: "/Webhooks/Messages?EventName=" + event(0) + "&Take=10"},
		{title: "newest 10 messages of a rare event", metric: "rare-event", path: "/Webhooks/Messages?EventName=" + event(1) + "&Take=10"},
		{title: "newest 10 of an event without messages", metric: "no-event", path: "/Webhooks/Messages?EventName=debtor.never&Take=10"},
		{title: "10 messages by time", metric: "time", path: "/Webhooks/Messages?OrderBy=AddedDateTime&Take=10"},
		{title: "oldest 10 messages by time, by cursor behind nine tenths", metric: "time-cursor", path: "/Webhooks/Messages?OrderBy=AddedDateTime&Include=NoTotal", isDeep: true},
		{title: "newest 10 of the first 500 ms", metric: "start", path: untilStart(500 * time.Millisecond)},
		{title: "newest 10 of the first 2 s", metric: "long", path: untilStart(2 * time.Second)},
		{title: "newest 10 of an hour long ago", metric: "hour", path: "/Webhooks/Messages?Since=2020-01-01T00:00:00Z&Until=2020-01-01T01:00:00Z&Take=10"},
	}
}

// untilStart returns the path of the newest messages of a period from the first message on. There is
// one in each millisecond.
func untilStart(length time.Duration) string {
	until := historyStart.Add(length).UTC().Format("2006-01-02T15:04:05.000Z")
	return "/Webhooks/Messages?Until=" + until + "&Take=10"
}

// seekDeep makes the request continue behind nine tenths of the list.
func (l *listRequest) seekDeep(b *testing.B, h *benchDaemon, size int) {
	b.Helper()
	if l.firstPath == "" {
		l.firstPath = l.path
	}
	const maxStep = 100_000 // messages, which take less than the time limit of a request
	cursor := ""
	for remaining := size * 9 / 10; remaining > 0; remaining -= maxStep {
		take := min(remaining, maxStep)
		cursor = h.nextPage(b, fmt.Sprintf("%s&Take=%d&Fields=ItemNo&Cursor=%s", l.firstPath, take, cursor))
	}
	l.path = l.firstPath + "&Take=10&Cursor=" + cursor
}

// nextPage reads a page and returns the cursor of the next one.
func (h *benchDaemon) nextPage(b *testing.B, path string) (cursor string) {
	b.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, h.URL+path, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+h.manager)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	var page struct{ Meta struct{ Next string } }
	err = json.NewDecoder(response.Body).Decode(&page)
	if err != nil || page.Meta.Next == "" {
		b.Fatalf("%s: status %d, no cursor (%v)", path, response.StatusCode, err)
	}
	return page.Meta.Next
}
