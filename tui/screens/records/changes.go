package records

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
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

// Changes is the live list of the changes of a captured kind, newest first.
type Changes struct {
	browse.SearchTable
	kind      *record.Kind
	all       []wire.Change // newest first
	token     string        // after the newest change; empty until it is known
	fetchedAt time.Time
	problem   string // why there are no changes yet; empty for none
	refused   bool   // the service has no changes of the kind
}

// Limits of the changes that are fetched at the start and kept.
const (
	pastChanges = 200
	maxChanges  = 2000
)

// NewChanges returns the changes of a kind.
func NewChanges(h ui.Host, kind *record.Kind) *Changes {
	s := &Changes{
		SearchTable: browse.NewSearchTable(h, "changes", "part of an operation, key or field"),
		kind:        kind,
	}
	s.Refill = s.fill
	s.Grid.Empty = func() string {
		if s.token == "" {
			return ""
		}
		return cmp.Or(s.NoMatch("change", len(s.all)), "No change yet. New ones appear by themselves.")
	}
	s.Grid.Columns.Set([]grid.Column{
		{Name: "Time", Min: 5},
		{Name: "Change", Min: 8},
		{Name: "Key", Min: 10, Max: 60, Flex: true},
		{Name: "Fields", Min: 20, Max: 200, Flex: true},
	}, 0)
	s.Preview.ShowRight(s, 44)
	return s
}

func (s *Changes) Shown() tea.Cmd { return s.Poll() }

func (s *Changes) Title() string { return "Changes of " + s.kind.Name }

func (s *Changes) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InChanges, keymap.InLists} }

func (s *Changes) Equivalent() string { return "whctl follow " + s.kind.Name }

// View draws the list, or shows why there are no changes yet.
func (s *Changes) View() string { return strings.Join(s.Panels()[0].Lines, "\n") }

// Panels returns the list and its preview, or why there are no changes yet.
func (s *Changes) Panels() []theme.Panel {
	if s.problem == "" || len(s.all) > 0 {
		return s.Table.Panels()
	}
	lines := []string{theme.Spaces(s.Width)}
	for _, text := range s.Session.Theme.WrapLines(s.problem, s.Width-4, s.Height-1) {
		lines = append(lines, s.Session.Theme.Fit("  "+text, s.Width, false))
	}
	for len(lines) < s.Height {
		lines = append(lines, theme.Spaces(s.Width))
	}
	return []theme.Panel{{Width: s.Width, Height: s.Height, Focused: true, Lines: lines}}
}

func (s *Changes) Status() string {
	switch {
	case s.problem != "":
		return "no changes"
	case s.token == "":
		return "loading changes ..."
	case len(s.all) == 0:
		return "no changes yet"
	}
	return s.Grid.PositionText()
}

// Tick refreshes the times, and fetches new changes.
func (s *Changes) Tick() tea.Cmd {
	s.fill()
	isRecent := s.Session.Now.Sub(s.fetchedAt) < ui.PollInterval
	if !s.Session.MayPoll() || s.refused || isRecent {
		return nil
	}
	return s.Poll()
}

func (s *Changes) Poll() tea.Cmd {
	if s.Busy {
		return nil
	}
	s.Busy = true
	s.fetchedAt = s.Session.Now
	kind, token := s.kind, s.token
	fetch := func(ctx context.Context, c *client.Client) (*client.ChangePage, error) {
		if token == "" {
			return fetchPast(ctx, c, kind)
		}
		return c.Changes(ctx, kind, token, 0, 0)
	}
	return ui.Fetch(s.Ctx, s, fetch, s.onFetched)
}

// fetchPast fetches the last pastChanges changes of a kind, or all that the service has.
func fetchPast(ctx context.Context, c *client.Client, kind *record.Kind) (*client.ChangePage, error) {
	newest, err := c.Changes(ctx, kind, "", 0, 0)
	if err != nil {
		return nil, err
	}
	past, err := c.Changes(ctx, kind, earlier(newest.Next, pastChanges), 0, 0)
	if !client.Is(err, client.ResyncRequired) {
		return past, err
	}
	// The service has fewer changes: search for the oldest one.
	missing := sort.Search(pastChanges, func(n int) bool {
		_, err := c.Changes(ctx, kind, earlier(newest.Next, pastChanges-n), 1, 0)
		return err == nil
	})
	return c.Changes(ctx, kind, earlier(newest.Next, pastChanges-missing), 0, 0)
}

// earlier returns the token n changes before a token.
func earlier(token string, n int) string {
	position, _ := wire.TokenPosition(token) // valid, as the service returned it
	position = max(0, position-int64(n))
	history := token[:strings.LastIndexByte(token, '-')+1]
	return history + strconv.FormatInt(position, 10)
}

// onFetched adds the fetched changes, or keeps the reason why there are none.
func (s *Changes) onFetched(page *client.ChangePage, err error) tea.Cmd {
	s.Busy = false
	if err != nil {
		s.problem = ui.Describe(err)
		e, ok := errors.AsType[*client.Error](err)
		s.refused = ok && e.Status >= 400 && e.Status <= 499
		if client.Is(err, client.ResyncRequired) { // the next fetch starts again
			s.token = ""
			s.refused = false
		}
		return nil
	}
	s.problem = ""
	s.refused = false
	s.token = page.Next
	slices.Reverse(page.Changes)
	s.all = append(page.Changes, s.all...)
	s.all = s.all[:min(len(s.all), maxChanges)]
	s.fill()
	return nil
}

// opRoles are the roles of operations.
var opRoles = map[string]theme.Role{
	wire.OpCreated: theme.Success,
	wire.OpUpdated: theme.Warning,
	wire.OpDeleted: theme.Failure,
}

func (s *Changes) fill() {
	var rows []*grid.Row
	for _, c := range s.all {
		fields := changedFields(c)
		if !s.ContainsWords(c.Op, c.Key, fields) {
			continue
		}
		capturedAt, _ := time.Parse(time.RFC3339, c.CapturedAt)
		rows = append(rows, &grid.Row{
			ID: strconv.FormatInt(c.ChangeID, 10),
			Cells: []grid.Cell{
				{Text: s.Session.TimeText(capturedAt), Role: theme.Dim},
				{Text: c.Op, Role: opRoles[c.Op]},
				{Text: c.Key},
				{Text: fields},
			},
		})
	}
	s.Grid.SetRows(grid.NewList(rows))
}

// changedFields lists the fields of an update with the values that are known, or the values
// of a record that was created or deleted.
func changedFields(c wire.Change) string {
	var texts []string
	if c.Op != wire.OpUpdated {
		row, _ := client.ParseRow(slices.Concat(c.Record, c.Before)) // one of them is absent
		for field, value := range row.All() {
			texts = append(texts, fmt.Sprintf("%s %s", field, []byte(value)))
		}
		return strings.Join(texts, ", ")
	}
	var before, after map[string]json.RawMessage
	_ = json.Unmarshal(c.Before, &before) // absent if the service does not know the values
	_ = json.Unmarshal(c.Record, &after)
	for _, field := range c.Changed {
		text := fmt.Sprintf("%s %s", field, after[field])
		if old, ok := before[field]; ok {
			text = fmt.Sprintf("%s %s -> %s", field, old, after[field])
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

func (s *Changes) selected() (wire.Change, bool) {
	return browse.SelectedItem(&s.Table, s.all, func(c wire.Change) string { return strconv.FormatInt(c.ChangeID, 10) })
}

func (s *Changes) Do(b keymap.Binding) tea.Cmd {
	if s.Move(b) {
		return nil
	}
	change, ok := s.selected()
	if !ok {
		return nil
	}
	switch b.Action {
	case keymap.Open:
		return s.Host.Push(s.SelectedScreen())
	case keymap.ShowWhy:
		return s.Host.Open(ui.WhyTarget{Key: change.Key})
	case keymap.CopyCell:
		s.Host.Copy(change.Key)
	}
	return nil
}

func (s *Changes) Click(x, y int, double bool) tea.Cmd {
	return browse.ClickRow(s, s.Grid, x, y, double)
}

// SelectedScreen returns the screen of the selected change, nil if there is none.
func (s *Changes) SelectedScreen() ui.Screen {
	change, ok := s.selected()
	if !ok {
		return nil
	}
	d := &changeDetail{Base: ui.NewBase(s.Host), change: change}
	d.Owner = d.HostSession
	return d
}

// changeDetail is the screen of one change.
type changeDetail struct {
	ui.Base
	ui.Pager
	change wire.Change
}

func (d *changeDetail) Shown() tea.Cmd         { return nil }
func (d *changeDetail) Title() string          { return d.change.Key }
func (d *changeDetail) Badges() []string       { return []string{d.change.Op} }
func (d *changeDetail) Status() string         { return "captured at " + d.change.CapturedAt }
func (d *changeDetail) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InLists} }
func (d *changeDetail) Equivalent() string     { return "whctl why " + ui.Quote(d.change.Key) }
func (d *changeDetail) View() string           { return strings.Join(d.Draw(), "\n") }

func (d *changeDetail) SetSize(width, height int) {
	d.Base.SetSize(width, height)
	d.Resize(width, height)
	text, _ := json.Marshal(d.change) // valid, as it was received
	d.SetJSON(ui.JSONLines(text, width-2))
}

func (d *changeDetail) Do(b keymap.Binding) tea.Cmd {
	d.Move(b)
	return nil
}
