package messages

import (
	"context"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/browse"
	"github.com/bizhook/whd/tui/grid"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Why is the history of a key: changes, events, messages and attempts, and the reasons for
// those that are missing.
type Why struct {
	browse.SearchTable
	key    string
	why    *wire.Why
	missed []wire.MessageChange // arrived while a fetch was in flight
}

var whyColumns = []grid.Column{
	{Name: "Time", Min: 12},
	{Name: "Step", Min: 10},
	{Name: "Text", Min: 20, Max: 200, Flex: true},
}

// NewWhy returns the history of a key.
func NewWhy(h ui.Host, key string) *Why {
	s := &Why{
		SearchTable: browse.NewSearchTable(h, "why", "part of a line"),
		key:         key,
		why:         new(wire.Why),
	}
	s.Refill = s.fill
	s.Grid.Columns.Set(whyColumns, 0)
	return s
}

func (s *Why) Shown() tea.Cmd { return s.Poll() }

func (s *Why) Title() string { return "Why " + s.key }

func (s *Why) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InWhy, keymap.InLists} }

func (s *Why) Equivalent() string { return "whctl why " + ui.Quote(s.key) }

func (s *Why) Poll() tea.Cmd {
	key := s.key
	read := func(ctx context.Context, c *client.Client) (*wire.Why, error) {
		return c.WhyOf(ctx, key)
	}
	s.Busy = true
	return ui.Fetch(s.Ctx, s, read, s.show)
}

// show shows a history that was fetched. It is fetched again if one of its messages has changed
// in the meantime.
func (s *Why) show(why *wire.Why, err error) tea.Cmd {
	s.Busy = false
	missed := s.missed
	s.missed = nil
	if err != nil {
		s.Host.ShowFetchError("fetching the history of the key", err)
		return nil
	}
	s.why = why
	s.key = why.Key // of a message, if the screen was opened by its ID
	s.fill()
	return s.Follow(missed, 0)
}

// Follow fetches the steps again when one of the messages has changed.
func (s *Why) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	if s.Busy {
		s.missed = append(s.missed, changes...)
		return nil
	}
	changed := slices.ContainsFunc(changes, func(c wire.MessageChange) bool {
		return slices.ContainsFunc(s.why.Steps, func(step wire.WhyStep) bool { return step.MessageID == c.MessageID })
	})
	if !changed {
		return nil
	}
	return s.Poll()
}

func (s *Why) Retime() string {
	s.Grid.Columns.Fit()
	s.fill()
	return ""
}

func (s *Why) Status() string {
	if s.why.More {
		return "there are older steps"
	}
	return s.Grid.PositionText()
}

// whyRoles are the roles of steps with a result; others are plain.
var whyRoles = map[string]theme.Role{
	wire.WhyDelivered:   theme.Success,
	wire.WhyFailed:      theme.Failure,
	wire.WhyBreakerOpen: theme.Failure,
	wire.WhyRetrying:    theme.Warning,
	wire.WhyHeld:        theme.Warning,
	wire.WhyWaiting:     theme.Pending,
}

func (s *Why) fill() {
	var rows []*grid.Row
	for _, step := range s.why.Steps {
		if !s.Contains(step.Step + " " + step.Text) {
			continue
		}
		rows = append(rows, &grid.Row{
			ID: step.Step + step.Text + time.Time(step.At).String() + step.MessageID,
			Cells: []grid.Cell{
				{Text: s.stepTime(step), Role: theme.Dim},
				{Text: step.Step, Role: whyRoles[step.Step]},
				{Text: step.Text},
			},
		})
	}
	s.Grid.SetRows(grid.NewList(rows))
}

// stepTime returns when a step was done or is due.
func (s *Why) stepTime(step wire.WhyStep) string {
	done := time.Time(step.At)
	if !done.IsZero() {
		return s.Session.TimeText(done)
	}
	due := time.Time(step.Due)
	if !due.IsZero() {
		return s.dueText(due)
	}
	return "now"
}

// dueText returns when the next attempt is due. The text of the step has it last, where
// narrow screens cut it.
func (s *Why) dueText(due time.Time) string {
	if s.Session.Times == ui.Relative {
		return ui.Until(s.Session.TimeUntil(due))
	}
	return s.Session.TimeText(due)
}

func (s *Why) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return nil
	}
	switch b.Action {
	case keymap.Open:
		ofKey := client.Filter{Field: "Key", Operator: record.Equal, Values: []string{s.key}}
		return s.Host.Open(ui.MessagesTarget{
			Here:          true,
			MessageFilter: ui.MessageFilter{Conditions: []client.Filter{ofKey}},
		})
	case keymap.CopyCell:
		row := s.Grid.Row()
		if row != nil {
			s.Host.Copy(row.Cells[len(row.Cells)-1].Text)
		}
	}
	return nil
}

// openWhy opens the history of a message's key.
func openWhy(h ui.HostSession, m wire.Message) tea.Cmd {
	if m.Key == "" {
		h.Host.Notify(ui.Warning, "the event of this message has no key")
		return nil
	}
	return h.Host.Open(ui.WhyTarget{Key: m.Key})
}
