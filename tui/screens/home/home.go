// Package home is the first screen: whether anything is wrong with deliveries.
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

// Screen answers whether anything is wrong, without a key.
type Screen struct {
	ui.Base
	Figures
	busy    bool
	due     bool // something has changed since they were asked for
	Asked   time.Time
	wrong   error
	At      int               // the selected entry
	Chosen  string            // its key, by which it is found again
	views   map[string]string // how many rows they have, by name
	counted time.Time
}

// Figures are what is fetched.
type Figures struct {
	Stats    *wire.Stats
	counts   [4]int // of messages, by Status
	Failures []wire.Message
}

// New opens the screen.
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
	if h.Stats != nil && h.Now.Sub(h.Asked) < ui.PollInterval {
		return nil
	}
	return h.Poll()
}

// Poll implements ui.Poller.
func (h *Screen) Poll() tea.Cmd {
	if h.busy {
		return nil
	}
	h.busy, h.due, h.Asked = true, false, h.Now
	return tea.Batch(ui.Fetch(h.Ctx, h, fetchFigures, h.Took), h.count())
}

// figuresLast is how long the figures of the last hour hold where nothing
// changes.
const figuresLast = time.Minute

// Follow asks again for the figures, at most every two seconds.
func (h *Screen) Follow(changes []wire.MessageChange, _ int) tea.Cmd {
	h.due = h.due || len(changes) > 0
	return h.Tick()
}

// Tick asks for them where it was too early for that before.
func (h *Screen) Tick() tea.Cmd {
	old := h.Now.Sub(h.Asked)
	if h.Paused || h.Front() != ui.Screen(h) || h.busy || old < ui.PollInterval || !h.due && old < figuresLast {
		return nil
	}
	return h.Poll()
}

// Took takes the figures.
func (h *Screen) Took(got Figures, err error) tea.Cmd {
	h.busy = false
	if h.wrong = err; err == nil {
		h.Figures = got
		even(&got.Stats.Minutes)
		h.Queues.Update(got.Stats, h.Now)
		h.KeepChosen()
	}
	return nil
}

// Do implements ui.Screen.
func (h *Screen) Do(b keymap.Binding) tea.Cmd {
	switch b.Action {
	case keymap.GoUp:
		h.choose(h.At - 1)
	case keymap.GoDown:
		h.choose(h.At + 1)
	case keymap.GoTop:
		h.choose(0)
	case keymap.GoBottom:
		h.choose(len(h.Entries()) - 1)
	case keymap.ProblemsOnly:
		return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}})
	case keymap.ShowInfo:
		return h.openSubscription()
	case keymap.Open:
		if all := h.Entries(); h.At < len(all) {
			return all[h.At].open()
		}
	}
	return nil
}

// troubled are the subscriptions with failures that are listed, the worst first.
func (h *Screen) troubled() []wire.Queue {
	if h.Stats == nil {
		return nil
	}
	lanes := slices.DeleteFunc(slices.Clone(h.Stats.Lanes), func(l wire.Queue) bool {
		return l.Failed == 0 && l.GivenUp == 0 && l.LastFailure == nil && l.RetryPending == 0 && l.Breaker != wire.BreakerOpen && l.IsEnabled
	})
	return lanes[:min(len(lanes), endpointsShown)]
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
	case h.wrong != nil && ui.SignedOut(h.wrong):
		lines = h.plain("  You are not signed in.", "", "  "+keymap.KeyFor(keymap.Everywhere, keymap.Refresh)+" or :login asks for the password.")
	case h.wrong != nil && client.Is(h.wrong, client.Unauthorized):
		lines = append(h.plain("  This user may not see deliveries, which takes the role admin.", "", "  2 shows records.", ""), h.viewLines(h.Width, 0)...)
	case h.wrong != nil:
		lines = h.plain("  "+ui.Describe(h.wrong), "", "  "+keymap.KeyFor(keymap.Everywhere, keymap.Refresh)+" tries again, :records shows records.")
	default:
		lines = h.plain("  Deliveries " + strings.Repeat(h.Theme.Loading, 3))
	}
	for len(lines) < h.Height {
		lines = append(lines, strings.Repeat(" ", h.Width))
	}
	return strings.Join(lines[:h.Height], "\n")
}

func (h *Screen) plain(texts ...string) []string {
	var lines []string
	for _, text := range texts {
		lines = append(lines, h.Theme.Fit(text, h.Width, false))
	}
	return lines
}

// dashboard is what is shown once the figures are here.
func (h *Screen) dashboard() []string {
	s := h.Stats
	c := chart{h.Session, s, h.Width, h.Height}
	rate := "-"
	if s.SuccessRate != nil {
		rate = fmt.Sprintf("%.1f%%", *s.SuccessRate*100)
	}
	lines := []string{h.Theme.Compose(h.Width, []theme.Span{{Text: c.title(), Role: theme.Breadcrumb}}, []theme.Span{
		{Text: "delivered ", Role: theme.Label}, {Text: display.Thousands(s.Totals.Delivered), Role: theme.Success}, {Text: "   failed ", Role: theme.Label}, {Text: display.Thousands(s.Totals.Failed + s.Totals.GivenUp), Role: theme.Failure},
		{Text: "   success ", Role: theme.Label}, {Text: rate + " "}})}
	lines = append(append(lines, c.bars()...), c.hours())
	lines = append(lines, h.beside(h.queue(), h.endpoints())...)
	return append(lines, h.recent()...)
}

// fetchFigures fetches what the first screen shows.
func fetchFigures(ctx context.Context, c *client.Client) (f Figures, err error) {
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

// entry is something on the first screen that can be opened.
type entry struct {
	Key  string // by which it is found again when the figures are renewed
	open func() tea.Cmd
}

// Entries are endpoints, saved views and failures, in the order of their lines.
func (h *Screen) Entries() []entry {
	var all []entry
	for _, lane := range h.troubled() {
		all = append(all, entry{"lane " + lane.SubscriptionID, func() tea.Cmd { return h.openLane(lane) }})
	}
	for _, v := range h.viewsListed() {
		all = append(all, entry{"view " + v.Name, func() tea.Cmd { return h.Open(ui.ViewTarget{View: v}) }})
	}
	for _, m := range h.failuresListed() {
		all = append(all, entry{"message " + m.MessageID, func() tea.Cmd { return h.openFailure(m) }})
	}
	return all
}

// openLane shows what failed at an endpoint.
func (h *Screen) openLane(lane wire.Queue) tea.Cmd {
	return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Subscription: lane.SubscriptionID, Label: lane.EventName, Problems: true}})
}

// openSubscription shows the subscription of the selected endpoint, or of the
// selected failure.
func (h *Screen) openSubscription() tea.Cmd {
	lane, ok := h.laneChosen()
	if !ok {
		h.Notify(ui.Info, "this is about an endpoint or a failure")
		return nil
	}
	return h.Open(ui.SubscriptionTarget{Queue: lane})
}

// laneChosen is the lane that the selected entry is about.
func (h *Screen) laneChosen() (wire.Queue, bool) {
	lanes, views := h.troubled(), h.viewsListed()
	if h.At < len(lanes) {
		return lanes[h.At], true
	}
	if i := h.At - len(lanes) - len(views); i >= 0 && i < len(h.failuresListed()) {
		lane, known := h.Queues.Known[h.Failures[i].SubscriptionID]
		return lane, known
	}
	return wire.Queue{}, false
}

// openFailure shows a message over the list of all that failed.
func (h *Screen) openFailure(m wire.Message) tea.Cmd {
	return h.Open(ui.MessagesTarget{MessageFilter: ui.MessageFilter{Problems: true}, Message: &m})
}

// choose selects an entry.
func (h *Screen) choose(at int) {
	all := h.Entries()
	if h.At = max(0, min(at, len(all)-1)); len(all) > 0 {
		h.Chosen = all[h.At].Key
	}
}

// KeepChosen selects the same entry among new ones, where it still is, and the
// first until one was chosen.
func (h *Screen) KeepChosen() {
	all := h.Entries()
	for i, e := range all {
		if e.Key == h.Chosen {
			h.At = i
			return
		}
	}
	if h.At = max(0, min(h.At, len(all)-1)); h.Chosen == "" {
		h.At = 0
	}
}

// failuresListed are the failures that there is room for.
func (h *Screen) failuresListed() []wire.Message {
	if h.Stats == nil {
		return nil
	}
	const titles = 2 + 2 // of the chart with its hours, of the failures with the blank line before them
	above := titles + chart{height: h.Height}.rows() + max(len(h.queue()), len(h.endpoints()))
	return h.Failures[:max(0, min(len(h.Failures), h.Height-above))]
}
