// Package session holds the parts of the app that draw nothing: the account of the user,
// changes of data and the one that waits for a sign-in, delayed changes, exports, secrets
// that are still to be shown, the live stream, the record kinds, and the list of profiles.
// They change the state in ui.Session, which the screens read. Each part declares the
// interface of the app that it uses.
package session

import (
	"cmp"
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// AccountHost is the part of the app that the account uses.
type AccountHost interface {
	CurrentSession() *ui.Session
	Notify(l ui.Level, text string)
	ShowError(action string, err error)
	ShowFetchError(action string, err error)
	// Start requests the data that the role of the user allows.
	Start() tea.Cmd
	// ChangeAccount replaces the session by one of another user.
	ChangeAccount(c *client.Client, user string) tea.Cmd
}

// Account is the signed-in user and the permission to change data.
type Account struct {
	host             AccountHost
	stream           *Stream
	changes          *Changes
	kinds            *Kinds
	toasts           *ui.Toasts
	polling          bool            // a request for the user is in progress
	started          bool            // the role is known, or unavailable
	readOnlyCount    int             // number of times :ro was entered
	readOnlyProfiles map[string]bool // profiles in which :ro was entered
}

// NewAccount returns an account without a known user.
func NewAccount(h AccountHost, s *Stream, c *Changes, k *Kinds, t *ui.Toasts) *Account {
	return &Account{
		host:             h,
		stream:           s,
		changes:          c,
		kinds:            k,
		toasts:           t,
		readOnlyProfiles: make(map[string]bool),
	}
}

// FetchTimeout is the timeout of requests in the background.
const FetchTimeout = 10 * time.Second

// Connect fetches the user and the kinds of a new session. Until then, no data is
// requested, since most is for admins only.
func (a *Account) Connect() tea.Cmd {
	a.started = false
	return tea.Batch(a.Poll(), a.kinds.Fetch())
}

// Poll fetches the user again; Polling reports whether the request is in progress.
func (a *Account) Poll() tea.Cmd {
	a.polling = true
	return a.Fetch()
}

// Polling reports whether the user is being fetched.
func (a *Account) Polling() bool { return a.polling }

// Started reports whether the role is known, or unavailable.
func (a *Account) Started() bool { return a.started }

// Fetch fetches the signed-in user with its role.
func (a *Account) Fetch() tea.Cmd {
	s := a.host.CurrentSession()
	c := s.Client
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(s.Context, FetchTimeout)
		defer cancel()
		user, err := c.CurrentSession(ctx)
		return ui.Response{
			Err:    err,
			Client: c,
			Apply:  func() tea.Cmd { return a.Fetched(s, user, err) },
		}
	}
}

// Fetched stores the user and its role.
func (a *Account) Fetched(s *ui.Session, user *wire.CurrentSession, err error) tea.Cmd {
	if s != a.host.CurrentSession() {
		return nil
	}
	a.polling = false
	roleChanged := user != nil && user.Role != s.Access.Role
	if user != nil {
		s.Access.User = user.UserName
		s.Access.Role = user.Role
		s.Access.EmbeddedRecords = user.EmbeddedRecords
	}
	if !a.started || roleChanged {
		a.started = true
		return a.host.Start()
	}
	if err == nil && a.stream.Conn.CanReconnect(s.Now) { // other kinds may be in effect
		return tea.Batch(a.stream.Listen(), a.kinds.Fetch())
	}
	return nil
}

// ReadOnly reports whether :ro was entered in a profile.
func (a *Account) ReadOnly(profile string) bool { return a.readOnlyProfiles[profile] }

// ReadOnlyCount returns the number of times :ro was entered.
func (a *Account) ReadOnlyCount() int { return a.readOnlyCount }

// ForbidChanges makes the session read-only, also after switching profiles.
func (a *Account) ForbidChanges() {
	s := a.host.CurrentSession()
	s.ReadOnly = true
	a.readOnlyProfiles[s.Profile] = true
	a.readOnlyCount++
	a.host.Notify(ui.Info, s.WhyReadOnly())
}

// AllowChanges ends the read-only mode. For a protected profile, its name must be given.
func (a *Account) AllowChanges(name string) tea.Cmd {
	s := a.host.CurrentSession()
	if !s.ReadOnly {
		a.host.Notify(ui.Info, "changes are already allowed")
		return nil
	}
	needsName := s.Access.Protected && name != s.Profile
	if s.Access.Unlock == nil || needsName {
		a.host.Notify(ui.Warning, s.WhyReadOnly())
		return nil
	}
	count := a.readOnlyCount
	return func() tea.Msg {
		c, err := s.Access.Unlock()
		return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
			a.Unlocked(s, count, c, err)
			return nil
		}}
	}
}

// Unlocked allows changes with a client that may change data. It has the credentials of the
// start, and gets the session of the user signed in since. count is the value of
// ReadOnlyCount when it was requested.
func (a *Account) Unlocked(s *ui.Session, count int, c *client.Client, err error) {
	switch {
	case s != a.host.CurrentSession() || count != a.readOnlyCount: // :ro was entered since
	case err != nil:
		a.host.ShowError("allowing changes", err)
	default:
		s.Client = c.WithSessionOf(s.Client)
		s.ReadOnly = false
		delete(a.readOnlyProfiles, s.Profile)
		a.host.Notify(ui.Warning, "changes are allowed in this session (:ro forbids them)")
	}
}

// SignInAction is the action in error messages of the sign-in.
const SignInAction = "signing in"

// SignIn signs in with the values of a form. The current session is kept until then. A change
// in flight belongs to the current user, and its outcome must be shown.
func (a *Account) SignIn(f *ui.Form, user, password string) tea.Cmd {
	s := a.host.CurrentSession()
	if !isSameUser(user, s.Access.User) && a.changes.Sending() != "" {
		f.At = 0
		f.Fields[f.At].Error = "wait: a change of " + s.Access.User + " is being sent"
		return nil
	}
	c := s.Client
	return func() tea.Msg {
		signedIn, reply, err := c.SignIn(s.Context, user, password)
		if err == nil {
			user = cmp.Or(reply.UserName, user)
		}
		isRejected := ui.SignedOut(err) // the current session may be valid
		return ui.Response{
			Err:        err,
			Background: isRejected,
			Apply:      func() tea.Cmd { return a.SignedIn(s, f, signedIn, user, err) },
		}
	}
}

// isSameUser reports whether two names are of the same user.
func isSameUser(a, b string) bool { return strings.EqualFold(a, b) }

// SignedIn handles the outcome of a sign-in; c uses the new session. For the same user
// the screens stay open.
func (a *Account) SignedIn(s *ui.Session, f *ui.Form, c *client.Client, user string, err error) tea.Cmd {
	switch {
	case s != a.host.CurrentSession():
		return nil
	case err != nil && f.IsOpen():
		a.toasts.Log(SignInAction+": "+ui.Describe(err), s.Now)
		resetPassword(f, err)
		return nil
	case err != nil:
		a.host.ShowFetchError(SignInAction, err)
		return nil
	}
	f.Finish()
	if !isSameUser(user, s.Access.User) {
		return a.host.ChangeAccount(c, user)
	}
	s.Client = c
	a.started = false
	a.stream.SignedIn()
	s.Access.User = user
	s.Access.Role = "" // until it is fetched
	a.host.Notify(ui.Info, "signed in as "+user)
	return tea.Batch(a.Fetch(), a.kinds.Fetch(), a.changes.Repeat())
}

// resetPassword clears the password and shows why it was rejected.
func resetPassword(f *ui.Form, err error) {
	f.At = len(f.Fields) - 1
	password := f.Fields[f.At]
	password.Input.SetValue("")
	password.Error = err.Error()
}
