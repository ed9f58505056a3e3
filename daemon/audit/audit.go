// Package audit is what is written down of the changes that people with
// authority make: who did what to whom, when, and from where.
//
// An entry is stored in the same transaction as its change. A change that
// cannot be written down is refused: a trail with gaps says nothing, and whoever
// could fill the disk could otherwise work unseen.
package audit

import (
	"strings"
	"time"
)

// Actor is who makes a change, and how they came.
type Actor struct {
	Who     string // user, API key or account of the operating system
	Via     string // cookie, header, basic, bearer; command, for those of whd; start, for whd itself
	Address string // of the client, where there is one
}

// Itself is the service, which makes the first user and the demo's key.
func Itself() Actor { return Actor{Who: "whd", Via: "start"} }

// Entry is one change. It holds no secrets.
type Entry struct {
	Actor
	At      time.Time
	Action  Action
	Subject string // the name of what was changed
	Detail  string // what it became
}

// Action is what was done, as noun and verb.
type Action string

// The actions on accounts.
const (
	AddUser    Action = "user add"
	ChangeUser Action = "user change"
	RemoveUser Action = "user remove"
	AddKey     Action = "key add"
	RemoveKey  Action = "key remove"
)

// Detail collects what was changed, as name=value pairs.
type Detail []string

// Set adds a pair.
func (d *Detail) Set(name, value string) { *d = append(*d, name+"="+value) }

// String is the pairs, separated by semicolons.
func (d Detail) String() string { return strings.Join(d, "; ") }
