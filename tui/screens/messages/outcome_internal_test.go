package messages

import (
	"slices"
	"testing"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// shownResults records the results that are shown.
type shownResults struct {
	progress string
	final    string
	level    ui.Level
	unmarked []string
}

func (r *shownResults) ShowResults(text string) { r.progress = text }

func (r *shownResults) EndResults(level ui.Level, text string) {
	r.final = text
	r.level = level
}

func (r *shownResults) Unmark(id string) { r.unmarked = append(r.unmarked, id) }

// The results of a retry are counted as they arrive. Delivered messages lose their marks, and
// those without a result are counted as waiting when time is up.
func TestOutcomeCountsResults(t *testing.T) {
	session := &ui.Session{Clock: ui.Clock{Now: time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)}}
	retried := []wire.Message{{MessageID: "A", Retries: 1}, {MessageID: "B"}, {MessageID: "C"}}
	unavailable := 503
	results := []wire.Message{
		{MessageID: "A", Status: 1, Retries: 2},
		{MessageID: "B", Status: 2, Retries: 1, LastMessageResponseHTTPCode: &unavailable},
		{MessageID: "C", Status: 2}, // not sent again yet
	}
	const text = "3 retried: 1 delivered, 1 failed again (1 x 503), 1 waiting"

	shown := new(shownResults)
	o := newOutcome(shown, session, 3, retried)
	o.add(results)
	if shown.progress != text {
		t.Errorf("after two of three results, the progress is %q, want %q", shown.progress, text)
	}
	if !slices.Equal(shown.unmarked, []string{"A"}) {
		t.Errorf("after two of three results, %q lost their marks, want A, which was delivered", shown.unmarked)
	}

	session.Now = session.Now.Add(outcomeTimeout)
	o.Tick()
	if !o.Done() || shown.final != text || shown.level != ui.Warning {
		t.Errorf("after %s without a result, done is %v, and %q is shown with level %d; want true, and %q with level %d",
			outcomeTimeout, o.Done(), shown.final, shown.level, text, ui.Warning)
	}
}
