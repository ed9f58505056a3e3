package webhook

import (
	"time"

	"github.com/bizhook/whd/daemon/fault"
)

// PortalLifetime is how long a session of a subscriber on its pages lasts, however it is used.
const PortalLifetime = 8 * time.Hour

// Visitor is a subscriber that uses its own pages.
type Visitor struct {
	Subscriber string // the SubscriberID: pages and their addresses must not contain it
	Name       string
}

// NoVisitor returns the error for a SubscriberID that opens no page, and for a session that has
// ended. It is the same for unknown and malformed IDs and for subscribers that are disabled.
func NoVisitor() error {
	return fault.New(fault.NotFound, "No page opens with this SubscriberID. "+
		"Check that it is complete, or request a new link from the company that sends the messages.")
}
