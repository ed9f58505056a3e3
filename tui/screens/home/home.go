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

func New(h ui.Host) *Screen { return &Screen{Base: ui.NewBase(h)} }

func (h *Screen) Title() string { return "Home" }

func (h *Screen) Scopes() []keymap.Scope { return []keymap.Scope{keymap.InHome, keymap.InLists} }

func (h *Screen) Waiting() bool { return h.busy }

func (h *Screen) Equivalent() string {
	return `whctl messages list --where "Status in 2,3" --order-by -LastSavedDateTime`
}

func (h *Screen) Shown() tea.Cmd {
	if h.Stats != nil && h.Now.Sub(h.Asked) < ui.PollInterval {
		return nil
	}
	return h.Poll()
}

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
		h.Queues.Take(got.Stats, h.Now)
		h.KeepChosen()
	}
	return nil
}

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
func (h *Screen) troubled() []wire.Lane {
	if h.Stats == nil {
		return nil
	}
	lanes := slices.DeleteFunc(slices.Clone(h.Stats.Lanes), func(l wire.Lane) bool {
		return l.Failed == 0 && l.GivenUp == 0 && l.LastFailure == nil && l.RetryPending == 0 && l.Breaker != wire.BreakerOpen && l.IsEnabled
	})
	return lanes[:min(len(lanes), endpointsShown)]
}

func (h *Screen) Status() string {
	if h.Stats == nil {
		return ""
	}
	return fmt.Sprintf("%s, %d disabled   %d in flight   %s", ui.Plural(h.Stats.Subscriptions, "subscription", "subscriptions"), h.Stats.Disabled,
		h.Stats.InHand.InFlight, ui.Plural(h.Stats.Daemons, "daemon", "daemons"))
}

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
	t, s := h.Theme, h.Stats
	rate := "-"
	if s.SuccessRate != nil {
		rate = fmt.Sprintf("%.1f%%", *s.SuccessRate*100)
	}
	lines := []string{h.Theme.Compose(h.Width, []theme.Span{{Text: h.chartTitle(), Ink: t.Crumb}}, []theme.Span{
		{Text: "delivered ", Ink: t.Label}, {Text: ui.Grouped(fmt.Sprint(s.Totals.Delivered)), Ink: t.Status[1]}, {Text: "   failed ", Ink: t.Label}, {Text: ui.Grouped(fmt.Sprint(s.Totals.Failed + s.Totals.GivenUp)), Ink: t.Status[3]},
		{Text: "   success ", Ink: t.Label}, {Text: rate + " "}})}
	lines = append(lines, h.chart(h.chartRows())...)
	lines = append(lines, h.hours())
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
