// Package home has the first screen: an overview of deliveries and their problems.
package home

import (
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Screen is the first screen.
type Screen struct {
	ui.Base
	Overview
	due           bool // messages have changed since the last request
	RequestedAt   time.Time
	err           error  // of the last request
	SelectedIndex int    // index of the selected entry
	SelectedKey   string // key of the selected entry
	views         viewCounts
}

// New returns the screen.
func New(h ui.Host) *Screen {
	b := ui.NewBase(h)
	return &Screen{Base: b, views: viewCounts{session: b.Session}}
}

func (h *Screen) Title() string { return "Home" }

func (h *Screen) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InHome, keymap.InLists} }

func (h *Screen) Equivalent() string {
	return `whctl messages list --where "Status in ` + failureStatuses + `" --order-by -LastSavedDateTime`
}

func (h *Screen) Shown() tea.Cmd {
	if h.Stats != nil && h.Session.Now.Sub(h.RequestedAt) < ui.PollInterval {
		return nil
	}
	return h.Poll()
}

func (h *Screen) Poll() tea.Cmd {
	if h.Busy {
		return nil
	}
	h.Busy = true
	h.due = false
	h.RequestedAt = h.Session.Now
	return tea.Batch(ui.Fetch(h.Ctx, h, fetchOverview, h.OnFetched), h.views.update(h.Ctx, h))
}

// maxStatsAge is the time after which the statistics are fetched again if nothing
// has changed.
const maxStatsAge = time.Minute

// Follow fetches the overview again after a change, at most every two seconds.
func (h *Screen) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	h.due = h.due || len(changes) > 0
	return h.Tick()
}

// Tick fetches the overview if it is due.
func (h *Screen) Tick() tea.Cmd {
	if !h.Session.MayPoll() || h.Busy || h.Host.Front() != ui.Screen(h) {
		return nil
	}
	maxAge := maxStatsAge
	if h.due || h.differsFromTabs() {
		maxAge = ui.PollInterval
	}
	if h.Session.Now.Sub(h.RequestedAt) < maxAge {
		return nil
	}
	return h.Poll()
}

// differsFromTabs reports whether the tabs show another number of endpoints in trouble.
func (h *Screen) differsFromTabs() bool {
	return h.Stats != nil && h.Session.Queues.Troubles.Endpoints != len(h.troubled())
}

// OnFetched shows the fetched overview.
func (h *Screen) OnFetched(fetched Overview, err error) tea.Cmd {
	h.Busy = false
	h.err = err
	if err != nil {
		return nil // View shows it
	}
	h.Overview = fetched
	padSeries(&h.Stats.Minutes)
	h.Session.Queues.Update(h.Stats, h.Session.Now)
	h.RestoreSelection()
	return nil
}

// SetSize sets the size. The entries that have room change, and the selected one stays.
func (h *Screen) SetSize(width, height int) {
	h.Base.SetSize(width, height)
	h.RestoreSelection()
}

// actions are the actions by key.
var actions = map[keymap.Action]func(h *Screen) tea.Cmd{
	keymap.ProblemsOnly: func(h *Screen) tea.Cmd {
		return h.Host.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}})
	},
	keymap.ShowInfo: (*Screen).openSubscription,
	keymap.ShowWhy:  (*Screen).openWhy,
	keymap.Retry:    (*Screen).confirmRetry,
	keymap.AddNew:   func(h *Screen) tea.Cmd { return h.Host.Open(ui.NewSubscriberTarget{}) },
	keymap.Open: func(h *Screen) tea.Cmd {
		if e, ok := h.selected(); ok {
			return e.open()
		}
		return nil
	},
}

func (h *Screen) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		h.selectEntry(h.SelectedIndex - 1)
	case keymap.GoDown:
		h.selectEntry(h.SelectedIndex + 1)
	case keymap.GoTop:
		h.selectEntry(0)
	case keymap.GoBottom:
		h.selectEntry(len(h.Entries()) - 1)
	case keymap.NextPanel:
		h.selectPanel(1)
	case keymap.PreviousPanel:
		h.selectPanel(-1)
	}
	if run, ok := actions[b.Action]; ok {
		return run(h)
	}
	return nil
}

// Click selects the entry at a position, and opens it with a double click.
func (h *Screen) Click(x, y int, double bool) tea.Cmd {
	if h.Stats == nil {
		return nil
	}
	entry := h.layout().entryAt(x, y)
	if entry == noEntry {
		return nil
	}
	h.selectEntry(entry)
	if double {
		return h.Do(keymap.Binding{Action: keymap.Open})
	}
	return nil
}

// Status describes the selected entry, or the subscriptions without one.
func (h *Screen) Status() string {
	if h.Stats == nil {
		return ""
	}
	if e, ok := h.selected(); ok {
		return ui.Parts(e.position, e.status())
	}
	subscriptions := display.Count(h.Stats.Subscriptions, "subscription", "subscriptions")
	return ui.Parts(subscriptions, display.Count(h.Stats.Daemons, "daemon", "daemons"))
}

// Hints returns the keys of the selected entry, and the help last.
func (h *Screen) Hints(bound []keymap.Binding) []keymap.Binding {
	e, _ := h.selected()
	var hints, help []keymap.Binding
	for _, b := range bound {
		switch b.Action {
		case keymap.Open:
			b.Hint = e.noun
		case keymap.Retry:
			b.Hint = ""
			if e.group != nil {
				b.Hint = "retry " + display.Thousands(len(e.group.IDs))
			}
		case keymap.ShowWhy:
			if e.message == nil {
				b.Hint = ""
			}
		case keymap.ProblemsOnly:
			if len(h.Failures) == 0 {
				b.Hint = ""
			}
		case keymap.NextPanel:
			if !h.hasLists() {
				b.Hint = ""
			}
		case keymap.ShowHelp:
			help = append(help, b)
			continue
		}
		if b.Hint != "" {
			hints = append(hints, b)
		}
	}
	if h.Stats != nil && h.Stats.Subscriptions == 0 {
		hints = append(newHint(), hints...)
	}
	return append(hints, help...)
}

// hasLists reports whether there are several lists with entries.
func (h *Screen) hasLists() bool {
	entries := h.Entries()
	return len(entries) > 0 && entries[0].panel != entries[len(entries)-1].panel
}

// newHint returns the key of a new subscriber.
func newHint() []keymap.Binding {
	return []keymap.Binding{{
		Scope:  keymap.InHome,
		Keys:   keymap.KeyFor(keymap.InHome, keymap.AddNew),
		Action: keymap.AddNew,
		Hint:   "new subscriber",
		Writes: true,
	}}
}

// layout returns the arrangement of the parts.
func (h *Screen) layout() layout {
	return layout{
		Overview:   &h.Overview,
		session:    h.Session,
		width:      h.Width,
		height:     h.Height,
		selected:   h.SelectedIndex,
		troubled:   h.troubled(),
		views:      h.visibleViews(),
		viewCounts: h.views.texts,
	}
}

// Panels returns the parts of the screen.
func (h *Screen) Panels() []theme.Panel {
	if h.Stats == nil {
		lines := strings.Split(h.View(), "\n")
		return []theme.Panel{{Width: h.Width, Height: h.Height, Focused: true, Lines: lines}}
	}
	return h.layout().panels()
}

func (h *Screen) View() string {
	var lines []string
	switch {
	case h.Stats != nil:
		lines, _ = h.layout().unframed()
	case h.err != nil:
		lines = h.errorLines()
	default:
		lines = h.fitLines("  Deliveries " + strings.Repeat(h.Session.Theme.Loading, 3))
	}
	for len(lines) < h.Height {
		lines = append(lines, theme.Spaces(h.Width))
	}
	return strings.Join(lines[:h.Height], "\n")
}

// errorLines draws why there is no overview, and how the user can change that.
func (h *Screen) errorLines() []string {
	key := keymap.KeyFor(keymap.Everywhere, keymap.Refresh)
	if ui.SignedOut(h.err) {
		return h.fitLines("  You are not signed in.", "", "  "+key+" or :login to sign in.")
	}
	if client.Is(h.err, client.Unauthorized) {
		lines := h.fitLines("  Deliveries require the admin role.", "", "  Press 2 for records.", "")
		if views := h.layout().viewLines(0); len(views) > 0 {
			lines = append(lines, h.Session.Theme.Paint(theme.Breadcrumb, h.Session.Theme.Fit(" Saved views", h.Width, false)))
			lines = append(lines, views...)
		}
		return lines
	}
	return h.fitLines("  "+ui.Describe(h.err), "", "  "+key+" retries, :records shows records.")
}

// fitLines draws a line for each text.
func (h *Screen) fitLines(texts ...string) []string {
	return record.Texts(texts, func(text string) string { return h.Session.Theme.Fit(text, h.Width, false) })
}

// openChanges opens the changes of a kind, unless it no longer exists.
func (h *Screen) openChanges(name string) tea.Cmd {
	kind, ok := h.Session.Registry.Lookup(name)
	if !ok {
		return nil
	}
	return h.Host.Open(ui.ChangesTarget{Kind: kind})
}

// openSubscription opens the subscription of the selected endpoint or failure.
func (h *Screen) openSubscription() tea.Cmd {
	e, _ := h.selected()
	queue, ok := h.Session.Queues.Known[e.subscription]
	if !ok {
		h.Host.Notify(ui.Info, "select an endpoint or a failure first")
		return nil
	}
	return h.Host.Open(ui.SubscriptionTarget{Queue: queue})
}

// openWhy opens the history of the key of the selected failure.
func (h *Screen) openWhy() tea.Cmd {
	e, _ := h.selected()
	if e.message == nil {
		h.Host.Notify(ui.Info, "select a failure first")
		return nil
	}
	return ui.OpenWhy(h.Host, *e.message)
}
