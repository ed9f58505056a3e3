package tui

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client/wire"
)

// discarded is a subscription that was deleted here. The values of its headers
// and its secret are not part of it, since the service does not tell them, nor
// is the SubscriberID, which is a key.
type discarded struct {
	At            time.Time
	Subscriber    string // its name
	SubscriberID  string // the ends of it
	EventName     string
	URL           string
	IsEnabled     bool
	Ordered       bool     `json:",omitempty"`
	RetrySchedule string   `json:",omitempty"`
	Headers       []string `json:",omitempty"` // their names
}

// trashKept is how many are kept.
const trashKept = 50

// discardable is what is kept of a subscription that is going to be deleted.
func discardable(s wire.Subscription, subscriber wire.Subscriber) discarded {
	d := discarded{
		Subscriber: subscriber.Name, SubscriberID: shortID(subscriber.RecID), EventName: s.EventName, URL: s.URL,
		IsEnabled: s.IsEnabled, Ordered: s.Ordered, RetrySchedule: s.RetrySchedule,
	}
	for _, h := range s.Headers {
		d.Headers = append(d.Headers, h.Name)
	}
	return d
}

// discard keeps what was deleted.
func (k *keeper) discard(d discarded) {
	k.change(func(all *kept) {
		all.Trash = append([]discarded{d}, all.Trash...)
		all.Trash = all.Trash[:min(len(all.Trash), trashKept)]
	})
}

// restored forgets what is there again.
func (k *keeper) restored(d discarded) {
	k.change(func(all *kept) {
		all.Trash = slices.DeleteFunc(all.Trash, func(one discarded) bool {
			return one.At.Equal(d.At) && one.EventName == d.EventName && one.URL == d.URL
		})
	})
}

// removed takes note of what was deleted.
func (a *app) removed(m doneMsg) {
	for _, id := range m.ids {
		d, known := a.leaving[id]
		if delete(a.leaving, id); known && m.err == nil {
			d.At = a.now.Truncate(time.Second)
			a.keeper.discard(d)
		}
	}
}

// newTrash lists what was deleted, to be made anew.
func newTrash(a *app) overlay {
	p := &picker{app: a, title: "Deleted subscriptions", note: a.keyFor(inMenu, accept) + " makes one anew   " + a.keyFor(inMenu, goBack) + " close"}
	for _, d := range a.keeper.Trash {
		p.choices = append(p.choices, choice{
			spans: []span{{a.moment(d.At) + "  ", a.theme.dim}, {d.EventName + "  ", ""}, {d.Subscriber + "  ", a.theme.accent}, {shortURL(d.URL), ""}},
			take:  func() tea.Cmd { a.askAnew(d); return nil },
		})
	}
	if len(p.choices) == 0 {
		p.note = "No subscription was deleted here.   " + a.keyFor(inMenu, goBack) + " close"
	}
	return p
}

// askAnew asks before a subscription is made anew, and says what will be
// missing of it.
func (a *app) askAnew(d discarded) {
	if a.readOnly {
		a.tell(warning, "making it anew: "+a.reason(binding{writes: true}))
		return
	}
	lines := []string{
		d.EventName + " to", "  " + maskURL(d.URL), "for " + d.Subscriber + " (" + d.SubscriberID + ").",
		"It gets another id and another secret. Its messages do not come back.",
	}
	if len(d.Headers) > 0 {
		lines = append(lines, "What its headers held cannot be read back, and they are left out:", "  "+strings.Join(d.Headers, ", "))
	}
	a.ask("Make the subscription anew?", "make it", lines, func() tea.Cmd { return a.recreate(d) })
}

// recreated shows the secret of what was made anew.
func (a *app) recreated(m recreatedMsg) tea.Cmd {
	if m.err != nil {
		a.fail("making "+m.of.EventName+" anew", m.err)
		return nil
	}
	a.keeper.restored(m.of)
	a.tellOnce(newSecret(a, m.subscription))
	if p, ok := a.front().(poller); ok {
		return p.poll()
	}
	return nil
}
