// Package audit records administrative changes: the account, the change, the time
// and the client address.
//
// An entry is stored in the same transaction as its change. A change that cannot be
// recorded is refused: an audit trail with gaps proves nothing, and an attacker
// could otherwise fill the disk to hide later changes.
package audit

import (
	"strings"
	"time"
)

// Actor is the account that makes a change.
type Actor struct {
	// Name is the name of a user, an API key or an operating system account.
	Name string

	// Via is the authentication method: cookie, header, basic or bearer; "command" for whd
	// commands, "start" for the service.
	Via string

	// Address is the address of the client; empty for commands and the service.
	Address string
}

// System returns the actor of changes that the service makes on its own, such as
// creating the first user and the API key of the demo.
func System() Actor { return Actor{Name: "whd", Via: "start"} }

// Entry is one change. It holds no secrets.
type Entry struct {
	Actor
	At      time.Time
	Action  Action
	Subject string // name of the changed object
	Detail  string // new values, see Detail
}

// Action is the kind of change, as noun and verb.
type Action string

// Actions on accounts.
const (
	AddUser    Action = "user add"
	ChangeUser Action = "user change"
	RemoveUser Action = "user remove"
	AddKey     Action = "key add"
	RemoveKey  Action = "key remove"
)

// ResumeCapture is the action of resuming the capture of a record kind's changes.
const ResumeCapture Action = "capture resume"

// Detail collects the changed properties as name=value pairs.
type Detail []string

// Set appends a pair.
func (d *Detail) Set(name, value string) { *d = append(*d, name+"="+value) }

// String returns the pairs, separated by semicolons.
func (d Detail) String() string { return strings.Join(d, "; ") }
