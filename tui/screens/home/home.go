// Package home has the first screen: an overview of deliveries and their problems.
package home

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/display"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// Screen is the first screen.
type Screen struct {
	ui.Base
	Overview
	busy          bool
	due           bool // messages have changed since the last request
	RequestedAt   time.Time
	err           error
	SelectedIndex int               // index of the selected entry
	SelectedKey   string            // key of the selected entry
	views         map[string]string // number of rows by view name
	countedAt     time.Time
}

// Overview is the fetched content of the screen.
type Overview struct {
	Stats    *wire.Stats
	counts   [4]int // number of messages by Status
	Failures []wire.Message
}

// New returns the screen.
func New(h ui.Host) *Screen { return &Screen{Base: ui.NewBase(h)} }

// Title implements ui.Screen.
func (h *Screen) Title() string { return "Home" }

// Scopes implements ui.Screen.
func (h *Screen) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InHome, keymap.InLists} }

// Waiting implements ui.Waiter.
func (h *Screen) Waiting() bool { return h.busy }

// Equivalent implements ui.Screen.
func (h *Screen) Equivalent() string {
	return `whctl messages list --where "Status in 2,3" --order-by -LastSavedDateTime`
}

// Shown implements ui.Screen.
func (h *Screen) Shown() tea.Cmd {
	if h.Stats != nil && h.Now.Sub(h.RequestedAt) < ui.PollInterval {
		return nil
	}
	return h.Poll()
}

// Poll implements ui.Poller.
func (h *Screen) Poll() tea.Cmd {
	if h.busy {
		return nil
	}
	h.busy, h.due, h.RequestedAt = true, false, h.Now
	return tea.Batch(ui.Fetch(h.Ctx, h, fetchOverview, h.OnFetched), h.count())
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
	old := h.Now.Sub(h.RequestedAt)
	if h.Paused || h.Front() != ui.Screen(h) || h.busy || old < ui.PollInterval || !h.due && old < maxStatsAge {
		return nil
	}
	return h.Poll()
}

// OnFetched shows the fetched overview.
func (h *Screen) OnFetched(got Overview, err error) tea.Cmd {
	h.busy = false
	if h.err = err; err == nil {
		h.Overview = got
		padSeries(&got.Stats.Minutes)
		h.Queues.Update(got.Stats, h.Now)
		h.RestoreSelection()
	}
	return nil
}

// Do implements ui.Screen.
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
	case keymap.ProblemsOnly:
		return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}})
	case keymap.ShowInfo:
		return h.openSubscription()
	case keymap.Open:
		if all := h.Entries(); h.SelectedIndex < len(all) {
			return all[h.SelectedIndex].open()
		}
	}
	return nil
}

// problemQueues returns the listed queues with problems, worst first.
func (h *Screen) problemQueues() []wire.Queue {
	if h.Stats == nil {
		return nil
	}
	queues := slices.DeleteFunc(slices.Clone(h.Stats.Queues), func(l wire.Queue) bool {
		return l.Failed == 0 && l.GivenUp == 0 && l.LastFailure == nil && l.RetryPending == 0 && l.Breaker != wire.BreakerOpen && l.IsEnabled
	})
	return queues[:min(len(queues), maxEndpoints)]
}

// Status implements ui.Screen.
func (h *Screen) Status() string {
	if h.Stats == nil {
		return ""
	}
	return fmt.Sprintf("%s, %d disabled   %d in flight   %s", display.Count(h.Stats.Subscriptions, "subscription", "subscriptions"), h.Stats.Disabled,
		h.Stats.InHand.InFlight, display.Count(h.Stats.Daemons, "daemon", "daemons"))
}

// View implements ui.Screen.
func (h *Screen) View() string {
	var lines []string
	switch {
	case h.Stats != nil:
		lines = h.dashboard()
	case h.err != nil && ui.SignedOut(h.err):
		lines = h.fitLines("  You are not signed in.", "", "  "+keymap.KeyFor(keymap.Everywhere, keymap.Refresh)+" or :login to sign in.")
	case h.err != nil && client.Is(h.err, client.Unauthorized):
		lines = append(h.fitLines("  Deliveries require the admin role.", "", "  Press 2 for records.", ""), h.viewLines(h.Width, 0)...)
	case h.err != nil:
		lines = h.fitLines("  "+ui.Describe(h.err), "", "  "+keymap.KeyFor(keymap.Everywhere, keymap.Refresh)+" retries, :records shows records.")
	default:
		lines = h.fitLines("  Deliveries " + strings.Repeat(h.Theme.Loading, 3))
	}
	for len(lines) < h.Height {
		lines = append(lines, strings.Repeat(" ", h.Width))
	}
	return strings.Join(lines[:h.Height], "\n")
}

func (h *Screen) fitLines(texts ...string) []string {
	var lines []string
	for _, text := range texts {
		lines = append(lines, h.Theme.Fit(text, h.Width, false))
	}
	return lines
}

// dashboard draws the loaded overview.
func (h *Screen) dashboard() []string {
	s := h.Stats
	c := chart{h.Session, s, h.Width, h.Height}
	rate := "-"
	if s.SuccessRate != nil {
		rate = fmt.Sprintf("%.1f%%", *s.SuccessRate*100)
	}
	lines := []string{h.Theme.Compose(h.Width, []theme.Span{{Text: c.title(), Role: theme.Breadcrumb}}, []theme.Span{
		{Text: "delivered ", Role: theme.Label}, {Text: display.Thousands(s.Totals.Delivered), Role: theme.Success}, {Text: "   failures ", Role: theme.Label}, {Text: display.Thousands(s.Totals.Failed + s.Totals.GivenUp), Role: theme.Failure},
		{Text: "   success rate ", Role: theme.Label}, {Text: rate + " "}})}
	lines = append(append(lines, c.bars()...), c.hours())
	lines = append(lines, h.sideBySide(h.statusCounts(), h.endpoints())...)
	return append(lines, h.recent()...)
}

// fetchOverview fetches the content of the screen.
func fetchOverview(ctx context.Context, c *client.Client) (f Overview, err error) {
	if f.Stats, err = c.Stats(ctx, time.Hour); err != nil {
		return f, err
	}
	for status := range f.counts {
		page, err := c.AllMessages(ctx, url.Values{"Status": {strconv.Itoa(status)}, "Take": {"0"}, "Include": {"Total"}})
		if err != nil {
			return f, err
		}
		f.counts[status] = int(page.Total)
	}
	page, err := c.AllMessages(ctx, url.Values{"StatusIn": {"2,3"}, "Take": {"50"}, "Fields": {ui.MessageFields()}, "OrderByDesc": {"LastSavedDateTime"}})
	if err == nil {
		f.Failures = page.Results
	}
	return f, err
}

// entry is an item of the first screen that can be opened.
type entry struct {
	Key  string // identifies the entry after a refresh
	open func() tea.Cmd
}

// Entries returns endpoints, saved views and failures in the order of their lines.
func (h *Screen) Entries() []entry {
	var all []entry
	for _, queue := range h.problemQueues() {
		all = append(all, entry{"queue " + queue.SubscriptionID, func() tea.Cmd { return h.openQueue(queue) }})
	}
	for _, v := range h.visibleViews() {
		all = append(all, entry{"view " + v.Name, func() tea.Cmd { return h.Open(ui.ViewTarget{View: v}) }})
	}
	for _, m := range h.shownFailures() {
		all = append(all, entry{"message " + m.MessageID, func() tea.Cmd { return h.openFailure(m) }})
	}
	return all
}

// openQueue opens the failed messages of an endpoint.
func (h *Screen) openQueue(queue wire.Queue) tea.Cmd {
	return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Subscription: queue.SubscriptionID, Label: queue.EventName, Problems: true}})
}

// openSubscription opens the subscription of the selected endpoint or failure.
func (h *Screen) openSubscription() tea.Cmd {
	queue, ok := h.selectedQueue()
	if !ok {
		h.Notify(ui.Info, "select an endpoint or a failure first")
		return nil
	}
	return h.Open(ui.SubscriptionTarget{Queue: queue})
}

// selectedQueue returns the queue of the selected entry, false if it has none.
func (h *Screen) selectedQueue() (wire.Queue, bool) {
	queues, views := h.problemQueues(), h.visibleViews()
	if h.SelectedIndex < len(queues) {
		return queues[h.SelectedIndex], true
	}
	if i := h.SelectedIndex - len(queues) - len(views); i >= 0 && i < len(h.shownFailures()) {
		queue, known := h.Queues.Known[h.Failures[i].SubscriptionID]
		return queue, known
	}
	return wire.Queue{}, false
}

// openFailure opens a message on top of the list of failed messages.
func (h *Screen) openFailure(m wire.Message) tea.Cmd {
	return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}, Message: &m})
}

// selectEntry selects the entry at an index, limited to the entries.
func (h *Screen) selectEntry(at int) {
	all := h.Entries()
	if h.SelectedIndex = max(0, min(at, len(all)-1)); len(all) > 0 {
		h.SelectedKey = all[h.SelectedIndex].Key
	}
}

// RestoreSelection selects the same entry after a refresh. It selects the first
// entry until the user has moved.
func (h *Screen) RestoreSelection() {
	all := h.Entries()
	for i, e := range all {
		if e.Key == h.SelectedKey {
			h.SelectedIndex = i
			return
		}
	}
	if h.SelectedIndex = max(0, min(h.SelectedIndex, len(all)-1)); h.SelectedKey == "" {
		h.SelectedIndex = 0
	}
}

// shownFailures returns the failures that fit.
func (h *Screen) shownFailures() []wire.Message {
	if h.Stats == nil {
		return nil
	}
	const titles = 2 + 2 // chart title and hours; failures title and the blank line before it
	above := titles + chart{height: h.Height}.rows() + max(len(h.statusCounts()), len(h.endpoints()))
	return h.Failures[:max(0, min(len(h.Failures), h.Height-above))]
}
