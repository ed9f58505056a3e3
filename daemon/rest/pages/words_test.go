package pages

import (
	"net/url"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// TestAnswer checks that a code is not left out because the message starts with its digits.
func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		code          int
		message, want string
	}{
		{404, "404 Not Found", "404 Not Found"},
		{404, "404", "404"},
		{404, "", "404"},
		{404, "4040 rows", "404 4040 rows"},
		{0, "connection refused", "connection refused"},
		{500, "Oops", "500 Oops"},
	} {
		if got := answer(&c.code, c.message); got != c.want {
			t.Errorf("%d %q: got %q, want %q", c.code, c.message, got, c.want)
		}
	}
}

// TestAgo checks the words for times, also for those that no Duration reaches.
func TestAgo(t *testing.T) {
	x := &edge.Context{Timing: edge.Timing{Start: time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC)}}
	for text, want := range map[string]string{
		"2026-07-01T08:58":    "2m ago",
		"2026-07-01T09:06":    "in 6m",
		"2036-07-01":          "in 3652d",
		"2500-01-01":          "2500-01-01",
		"9999-12-31T23:59:59": "9999-12-31",
		"1600-01-01":          "1600-01-01",
	} {
		date, ok := parseTime(text)
		if got := ago(x, date).Words; got != want || !ok {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// TestProblemOfConditions checks that errors of several conditions become one, because they have one
// group of inputs.
func TestProblemOfConditions(t *testing.T) {
	p := newProblem(&fault.Error{Kind: fault.Invalid, Message: "Invalid request", Fields: []fault.Field{
		{Name: "URL", Message: "is wrong"},
		{Name: "Where.TotalBetween", Message: "takes two values, not 1"},
		{Name: "Where.a.b", Message: "is not possible"},
	}}, subscriptionInputs)
	want := []fieldProblem{
		{"URL", "Endpoint", " is wrong"},
		{"Where", "Conditions",
			" are not valid: “Total is between” takes two values, not 1; “a.b” is not possible"},
	}
	if !slices.Equal(p.Fields, want) {
		t.Errorf("got %+v, want %+v", p.Fields, want)
	}
}

// TestShortID checks that IDs are cut between characters.
func TestShortID(t *testing.T) {
	for id, want := range map[string]string{
		"0123456789":    "0123456789",
		"0123456789a":   "0123…789a",
		"aéééééé":       "aéééééé",
		"éééééaaaaaééé": "éééé…aééé",
	} {
		if got := shortID(id); got != want || !utf8.ValidString(got) {
			t.Errorf("%q: got %q, want %q", id, got, want)
		}
	}
}

// TestStateOf checks that other parts have another digest.
func TestStateOf(t *testing.T) {
	if stateOf("a\nb", "c") == stateOf("a", "b\nc") {
		t.Error("parts with line feeds have the same digest")
	}
	if stateOf(`a"`, `b`) == stateOf(`a`, `"b`) {
		t.Error("parts with quotes have the same digest")
	}
}

// TestWithFilter checks changes of the filters in an address.
func TestWithFilter(t *testing.T) {
	filters := url.Values{"A": {"1"}}
	for _, c := range []struct {
		filters           url.Values
		name, value, want string
	}{
		{nil, "A", "b", "/x?A=b"},
		{nil, "A", "", "/x"},
		{filters, "a", "2", "/x?a=2"},
		{filters, "A", "", "/x"},
	} {
		if got := withFilter("/x", c.filters, c.name, c.value); got != c.want {
			t.Errorf("%v with %s=%s: got %s, want %s", c.filters, c.name, c.value, got, c.want)
		}
	}
	if filters.Get("A") != "1" {
		t.Errorf("the filters have changed to %v", filters)
	}
}

// TestSentence checks warnings that do not start with a letter of ASCII.
func TestSentence(t *testing.T) {
	for text, want := range map[string]string{"a b": "A b.", "élan": "Élan.", "7 rows": "7 rows."} {
		if got := sentence(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestDueWords checks why a message that is due has not been sent.
func TestDueWords(t *testing.T) {
	x := &edge.Context{Timing: edge.Timing{Start: time.Now()}}
	soon := wire.Timestamp(x.Timing.Start.Add(90 * time.Second))
	past := wire.Timestamp(x.Timing.Start.Add(-time.Minute))
	for _, c := range []struct {
		queue *wire.Queue
		want  string
	}{
		{nil, "due"},
		{&wire.Queue{IsEnabled: true}, "due"},
		{&wire.Queue{}, "once enabled"},
		{&wire.Queue{IsEnabled: true, DisabledReason: "410 Gone"}, "once enabled"},
		{&wire.Queue{IsEnabled: true, HeldEvents: []string{"a", "debtor.created"}}, "held"},
		{&wire.Queue{IsEnabled: true, HeldEvents: []string{"a"}}, "due"},
		{&wire.Queue{IsEnabled: true, Breaker: wire.BreakerOpen, NextProbeDateTime: soon}, "paused, next try in 1m"},
		{&wire.Queue{IsEnabled: true, Breaker: wire.BreakerOpen, NextProbeDateTime: past}, "paused, next try now"},
		{&wire.Queue{IsEnabled: true, WaitUntilDateTime: soon}, "paused as requested, next try in 1m"},
		{&wire.Queue{IsEnabled: true, RateUntilDateTime: soon, Ordered: true}, "rate limit, next in 1m"},
		{&wire.Queue{IsEnabled: true, Ordered: true}, "in its turn"},
		{&wire.Queue{IsEnabled: true, OrderedByKey: true}, "in its turn"},
	} {
		if got := dueWords(x, c.queue, false, "debtor.created"); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.queue, got, c.want)
		}
	}
}

// TestDueInListsAndOnPages checks that a list and the page of a message give the same reason. While
// deliveries are paused, it is the one that remains after the pause.
func TestDueInListsAndOnPages(t *testing.T) {
	x := &edge.Context{Timing: edge.Timing{Start: time.Now()}}
	m := &wire.Message{SubscriptionID: "A", EventName: "debtor.created"}
	for _, c := range []struct {
		queue wire.Queue
		want  string
	}{
		{wire.Queue{}, "once enabled"},
		{wire.Queue{IsEnabled: true, DisabledReason: "410 Gone"}, "once enabled"},
		{wire.Queue{IsEnabled: true}, "deliveries are paused"},
		{wire.Queue{IsEnabled: true, HeldEvents: []string{"debtor.created"}}, "deliveries are paused"},
	} {
		states := queueStates{bySubscription: map[string]*wire.Queue{"a": &c.queue}, arePaused: true}
		if got := states.dueWords(x, m); got != c.want {
			t.Errorf("%+v: the list has %q, want %q", c.queue, got, c.want)
		}
		view := &subscriptionView{
			State:    healthOf(x, c.queue.IsEnabled, c.queue.DisabledReason, &c.queue),
			Queue:    &c.queue,
			IsPaused: true,
		}
		if got := view.dueWords(x, m.EventName); got != c.want {
			t.Errorf("%+v: the page has %q, want %q", c.queue, got, c.want)
		}
	}
}

// TestTimes checks that times are shown in one form, and that a text that is no time is shown as it is.
func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"2026-01-31":             "2026-01-31 00:00:00 UTC",
		"2026-01-31T14:00+01:00": "2026-01-31 13:00:00 UTC",
		"soon":                   "soon",
	} {
		if got := timeWords(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	x := &edge.Context{Timing: edge.Timing{Start: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}}
	for text, want := range map[string]string{"": "never", "soon": "soon", "2026-01-30": "24h ago"} {
		c := dated(x, text, "never")
		if got := c.Text + c.When.Words; got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
