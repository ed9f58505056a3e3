package delivery

import "github.com/bizhook/whd/daemon/webhook"

// group is a group of changes that is waiting to be written.
type group struct {
	*Captured
	events []*publication // of the changes that raise one
	of     []int          // the indexes of these changes
	done   chan error     // buffered
}

// newGroup returns a group of changes. recipients returns the function that selects the
// subscriptions for an event.
func newGroup(c *Captured, recipients func(event string) func(*webhook.Subscription) bool) *group {
	g := &group{Captured: c, done: make(chan error, 1)}
	for i, change := range c.Changes {
		if change.Event != "" {
			event := newPublication(Post{change.Event, change.Key, change.Body}, c.AddedAt)
			event.receives, event.body.Change = recipients(change.Event), &c.Known
			g.events, g.of = append(g.events, event), append(g.of, i)
		}
	}
	return g
}

// refer sets the IDs of the stored events in the changes.
func (g *group) refer() {
	for i, p := range g.events {
		g.Changes[g.of[i]].EventID = 0
		if len(p.messages) > 0 {
			g.Changes[g.of[i]].EventID = p.event.ID
		}
	}
}
