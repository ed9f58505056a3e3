package delivery

import "github.com/bizhook/whd/daemon/webhook"

// group is a group of changes that is waiting to be written.
type group struct {
	*Captured
	events  []*publication // events of the changes that publish one
	indexes []int          // indexes of these changes
	done    chan error     // buffered
}

// newGroup returns a group of changes. recipients returns the function that selects the
// subscriptions for an event.
func newGroup(c *Captured, recipients func(event string) func(*webhook.Subscription) bool) *group {
	g := &group{Captured: c, done: make(chan error, 1)}
	for i, change := range c.Changes {
		if change.Event == "" {
			continue
		}
		event := newPublication(Post{Name: change.Event, Key: change.Key, Body: change.Body}, c.AddedAt)
		event.receives = recipients(change.Event)
		event.body.Change = &c.Known
		g.events = append(g.events, event)
		g.indexes = append(g.indexes, i)
	}
	return g
}

// refer sets the IDs of the stored events in the changes.
func (g *group) refer() {
	for i, p := range g.events {
		change := &g.Changes[g.indexes[i]]
		change.EventID = 0
		if len(p.messages) > 0 {
			change.EventID = p.event.ID
		}
	}
}
