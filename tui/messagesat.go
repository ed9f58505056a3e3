package tui

import (
	"errors"
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/filter"
	"github.com/bizhook/whd/client/record"
)

// The list of messages can be held at a time: it has then those that were added
// up to it, and no new ones come in. What becomes of them is shown as ever.

// asOf is the condition that a message was there at a time.
func asOf(at time.Time) client.Filter {
	return client.Filter{Field: "AddedDateTime", Operator: record.LessThanOrEqualTo, Values: []string{at.UTC().Format(time.RFC3339)}}
}

// all are the conditions that were typed and, of a list that is held, its time.
func (f messageFilter) all() []client.Filter {
	if f.at.IsZero() {
		return f.conditions
	}
	return append(slices.Clip(f.conditions), asOf(f.at))
}

// atChip is the time that a list is held at, of another day with its date.
func (s *messages) atChip() string {
	now, at := s.app.here(s.app.now), s.app.here(s.filter.at)
	layout := "15:04:05"
	if at.Second() == 0 {
		layout = "15:04"
	}
	if at.Format(time.DateOnly) != now.Format(time.DateOnly) {
		layout = time.DateOnly + " " + layout
	}
	return "at " + at.Format(layout)
}

// here is a time in the zone in which times of day are shown.
func (a *app) here(at time.Time) time.Time {
	if a.times == utc {
		return at.UTC()
	}
	return at.In(a.options.Zone)
}

// readAt reads the time to hold the messages in front at; zero for none.
func (a *app) readAt(text string) (time.Time, error) {
	s, ok := a.front().(*messages)
	switch {
	case !ok:
		return time.Time{}, fmt.Errorf("at is for the list of messages: :%s opens it", tabNames[messagesTab])
	case text == "":
		return time.Time{}, nil
	}
	at, err := filter.Time(text, a.here(a.now))
	switch {
	case err != nil:
		return at, fmt.Errorf("at %w", err)
	case at.After(a.now):
		return at, errors.New("at must be a time that has passed, such as " + a.here(a.now).AddDate(0, 0, -1).Format("2006-01-02 15:04"))
	}
	_, err = filter.Append(s.filter.conditions, asOf(at))
	return at, err
}

func (a *app) checkAt(text string) error {
	_, err := a.readAt(text)
	return err
}

// holdAt holds the messages in front at a time, or lets them go on.
func (a *app) holdAt(text string) tea.Cmd {
	at, err := a.readAt(text)
	if err != nil {
		a.tell(warning, err.Error())
		return nil
	}
	s := a.front().(*messages)
	if at.IsZero() && s.filter.at.IsZero() {
		a.tell(info, "new messages come in already; :at 13:00 holds the list at that time")
		return nil
	}
	s.filter.at = at.Truncate(time.Second)
	return s.reload()
}
