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

// New returns the handlers of accounts.
func New(service *account.Service, access *Access) Handlers {
	return Handlers{sessions{service, access}, users{service}, keys{service}}
}
