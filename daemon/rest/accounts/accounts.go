// Package accounts authenticates requests, and has the handlers of sessions, users and
// API keys.
package accounts

import (
	"github.com/bizhook/whd/daemon/account"
)

// Handlers has the handlers of accounts.
type Handlers struct {
	Sessions sessions
	Users    users
	Keys     keys
}

// New returns the handlers of accounts. embeddedRecords is a member of the current session.
func New(service *account.Service, access *Access, embeddedRecords bool) Handlers {
	return Handlers{
		Sessions: sessions{accounts: service, access: access, embeddedRecords: embeddedRecords},
		Users:    users{service},
		Keys:     keys{service},
	}
}
