package tui

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// account is the signed-in user and the permission to change data.
type account struct {
	*App
	user             string
	polling          bool            // a request for the user is in progress
	started          bool            // the role is known, or unavailable
	pendingChange    *pendingChange  // change to repeat after a sign-in; nil for none
	readOnlyCount    int             // number of times :ro was entered
	readOnlyProfiles map[string]bool // profiles in which :ro was entered
}

// fetchAccount fetches the signed-in user with its role.
func (a *account) fetchAccount() tea.Cmd {
	c, session := a.Client, a.Session
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(session.Context, backgroundTimeout)
		defer cancel()
		user, err := c.CurrentSession(ctx)
		return ui.Response{Err: err, Apply: func() tea.Cmd { return a.accountFetched(session, user, err) }}
	}
}

// fetchKinds fetches the record kinds of the service, which are stored for the next start.
// Screens that are open keep theirs, except the list.
func (a *account) fetchKinds() tea.Cmd {
	c, session, registry, fetch := a.Client, a.Session, a.Registry, a.options.Kinds.Fetch
	if fetch == nil {
		return nil
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(session.Context, backgroundTimeout)
		defer cancel()
		kinds, err := fetch(ctx, c)
		changed := err == nil && !reflect.DeepEqual(kinds, registry)
		return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd {
			if !changed || session != a.Session {
				return nil
			}
			a.Registry = kinds
			return a.Front().Shown()
		}}
	}
}

// unlock creates a client that may change data.
func (a *account) unlock() tea.Cmd {
	newClient, session, count := a.options.Unlock, a.Session, a.readOnlyCount
	return func() tea.Msg {
		c, err := newClient()
		return ui.Response{Err: err, Background: true, Apply: func() tea.Cmd { return a.unlocked(session, count, c, err) }}
	}
}

// unlocked allows changes with a client that may change data. count is the value of
// readOnlyCount when it was requested.
func (a *account) unlocked(session *ui.Session, count int, c *client.Client, err error) tea.Cmd {
	switch {
	case session != a.Session || count != a.readOnlyCount: // :ro was entered since
	case err != nil:
		a.ShowError("allowing changes", err)
	default:
		a.Client, a.ReadOnly = c, false
		delete(a.readOnlyProfiles, a.Profile)
		a.Notify(ui.Warning, "changes are allowed in this session (:ro forbids them)")
	}
	return nil
}

// signIn signs in with the values of a form.
func (a *account) signIn(f *ui.Form, user, password string) tea.Cmd {
	c, session := a.Client, a.Session
	return func() tea.Msg {
		_, err := c.Login(session.Context, user, password)
		return ui.Response{Err: err, Apply: func() tea.Cmd { return a.signedIn(session, f, user, err) }}
	}
}

// SessionExpired opens the sign-in form, unless something else is open.
func (a *account) SessionExpired() {
	if a.overlay == nil && a.input == nil {
		a.overlay = a.App.signInForm()
	}
}

// connect opens the first screen. Its data and the stream are requested when the role of
// the user is known, since most are for admins only.
func (a *account) connect() tea.Cmd {
	a.started, a.polling = false, true
	a.stacks[homeTab] = []ui.Screen{a.first(homeTab)}
	a.resize()
	return tea.Batch(a.fetchAccount(), a.fetchKinds())
}

// start requests the data of the screen in front, or of the records if the user may not
// see that screen.
func (a *account) start() tea.Cmd {
	a.started = true
	if a.denied(a.tab) != "" {
		return a.showTab(recordsTab)
	}
	return tea.Batch(a.stream.Listen(), a.refresh())
}

// accountFetched stores the user and its role.
func (a *account) accountFetched(session *ui.Session, user *wire.CurrentSession, err error) tea.Cmd {
	if session != a.Session {
		return nil
	}
	a.polling = false
	changed := !a.started
	if user != nil {
		changed = changed || user.Role != a.Access.Role
		a.user, a.Access.Role = user.UserName, user.Role
	}
	if changed {
		return a.start()
	}
	if err == nil && a.stream.Conn.CanReconnect(a.Now) { // other kinds may be in effect
		return tea.Batch(a.stream.Listen(), a.fetchKinds())
	}
	return nil
}

// setReadOnly makes the session read-only, also after switching profiles.
func (a *account) setReadOnly() tea.Cmd {
	a.ReadOnly, a.readOnlyProfiles[a.Profile] = true, true
	a.readOnlyCount++
	a.Notify(ui.Info, a.WhyReadOnly())
	return nil
}

// allowChanges ends the read-only mode. For a protected profile, its name must be given.
func (a *account) allowChanges(name string) tea.Cmd {
	switch {
	case !a.ReadOnly:
		a.Notify(ui.Info, "changes are already allowed")
	case a.Access.Locked || a.Access.Protected && name != a.Profile:
		a.Notify(ui.Warning, a.WhyReadOnly())
	default:
		return a.unlock()
	}
	return nil
}

// signedIn handles the outcome of a sign-in.
func (a *account) signedIn(session *ui.Session, f *ui.Form, user string, err error) tea.Cmd {
	switch {
	case session != a.Session:
		return nil
	case err != nil && f.IsOpen():
		a.toasts.Log(signInAction+": "+ui.Describe(err), a.Now)
		resetPassword(f, err)
		return nil
	case err != nil:
		a.ShowFetchError(signInAction, err)
		return nil
	}
	f.Finish()
	if open, isForm := a.overlay.(*ui.Form); isForm && open.IsSignIn && a.pendingChange != nil {
		a.overlay = nil // the pending change is repeated now
	}
	a.stream.SignedIn()
	a.user, a.Access.Role, a.started = user, "", false
	a.Notify(ui.Info, "signed in as "+user)
	return tea.Batch(a.fetchAccount(), a.fetchKinds(), a.runPending())
}

// retryAfterSignIn wraps a command so that it is repeated after a sign-in if the session has
// expired.
func (a *account) retryAfterSignIn(name string, cmd tea.Cmd) tea.Cmd {
	session := a.Session
	return func() tea.Msg {
		m := cmd()
		r, ok := m.(ui.Response)
		if !ok || !ui.SignedOut(r.Err) {
			return m
		}
		change := &pendingChange{name: name, cmd: cmd}
		return pendingMsg{change, ui.Response{Err: r.Err, Apply: func() tea.Cmd {
			if session == a.Session {
				a.keepPending(change)
			}
			return nil
		}}}
	}
}

// errNotSent is the error of changes in a read-only session. The client rejects them
// too.
var errNotSent = errors.New("nothing was sent")

// Change changes data at the service. It fails in a read-only session, and repeats the
// change after a sign-in if the session has expired.
func (a *account) Change(one ui.Change) tea.Cmd {
	c, ctx, why := a.Client, a.Context, a.WhyReadOnly()
	refusal := fmt.Errorf("%s; %w", why, errNotSent)
	done := one.OnDone
	if done == nil {
		done = func(err error) { a.changeDone(one.Name, err) }
	}
	return a.retryAfterSignIn(one.Name, func() tea.Msg {
		err := refusal
		if why == "" {
			err = one.Do(ctx, c)
		}
		return ui.Response{To: one.Screen, Err: err, ApplyLate: func() { done(err) }, Apply: func() tea.Cmd {
			if done(err); one.Then == nil {
				return nil
			}
			return one.Then(err)
		}}
	})
}

// changeDone shows the outcome of a change.
func (a *account) changeDone(name string, err error) {
	if err != nil {
		a.ShowError(name, ui.MarkNotSent(err))
		return
	}
	a.Notify(ui.Info, name+": done")
}

// keepPending stores a change and opens the sign-in form.
func (a *account) keepPending(change *pendingChange) {
	change.below = a.overlay
	if s, isSecret := a.overlay.(*ui.Secret); isSecret {
		change.below = s.Below // the sign-in form is shown below the secret
	}
	if f, isForm := change.below.(*ui.Form); isForm && f.IsSignIn {
		change.below = nil
		if a.pendingChange != nil {
			change.below = a.pendingChange.below
		}
	}
	a.pendingChange, a.input = change, nil
	a.overlay = a.App.signInForm()
}

// runPending repeats the stored change after a sign-in.
func (a *account) runPending() tea.Cmd {
	change := a.pendingChange
	if change == nil {
		return nil
	}
	if a.pendingChange = nil; a.overlay == nil {
		a.overlay = change.below
	}
	a.Notify(ui.Info, "repeating: "+change.name)
	retry := a.retryAfterSignIn(change.name, change.cmd)
	if change.form == nil {
		return retry
	}
	return change.form.Track(retry)
}

// dropPending drops the stored change after a cancelled sign-in.
func (a *account) dropPending() {
	if a.pendingChange == nil {
		return
	}
	a.overlay = a.pendingChange.below
	a.Notify(ui.Warning, "not sent: "+a.pendingChange.name)
	a.pendingChange = nil
}

// SignInPending reports whether a change is waiting for a sign-in.
func (a *account) SignInPending() bool { return a.pendingChange != nil }

// change is a change that was rejected because the session had expired. It is repeated
// after the next sign-in.
type pendingChange struct {
	name  string // shown to the user
	cmd   tea.Cmd
	form  *ui.Form   // the form that submitted it; nil for none
	below ui.Overlay // overlay that the sign-in form covers
}

// pendingMsg reports that a change was rejected because the session had expired.
type pendingMsg struct {
	change   *pendingChange
	response ui.Response
}

// signInForm returns the sign-in form.
func (a *account) signInForm() ui.Overlay {
	f := ui.NewForm(a.App, "Sign in to "+ui.ShortURL(a.URL), "sign in")
	f.IsSignIn = true
	if a.pendingChange != nil {
		f.Notes = []string{"sent after sign-in: " + a.pendingChange.name}
	}
	f.Add("UserName", "User", a.user, "")
	f.Add("Password", "Password", "", "not stored; used for this session only").Masked = true
	if a.user != "" {
		f.At = 1
	}
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		return a.signIn(f, values["UserName"], values["Password"])
	}
	f.OnCancel = a.dropPending
	return f
}

// signInAction is the action in error messages of the sign-in.
const signInAction = "signing in"

// resetPassword clears the password and shows why it was rejected.
func resetPassword(f *ui.Form, err error) {
	f.At = len(f.Fields) - 1
	password := f.Fields[f.At]
	password.Input.SetValue("")
	password.Error = err.Error()
}
