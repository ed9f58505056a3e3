package tui

import (
	"context"
	"reflect"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// account is the signed-in user and the permission to change data.
type account struct {
	*App
	user             string
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
		m := accountMsg{session: session}
		m.user, m.err = c.CurrentSession(ctx)
		return m
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
		return unlockedMsg{responseBase{err: err}, c, session, count}
	}
}

// signIn signs in with the values of a form.
func (a *account) signIn(f *ui.Form, user, password string) tea.Cmd {
	c, session := a.Client, a.Session
	return func() tea.Msg {
		_, err := c.Login(session.Context, user, password)
		return signedInMsg{responseBase: responseBase{err: err}, session: session, user: user, form: f}
	}
}

// promptSignIn opens the sign-in form if the session has just expired.
func (a *account) promptSignIn(was bool) {
	if a.conn.signedOut && !was && a.overlay == nil && a.input == nil {
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
	return tea.Batch(a.listen(), a.refresh())
}

// accountFetched stores the user and its role.
func (a *account) accountFetched(m accountMsg) tea.Cmd {
	if m.session != a.Session {
		return nil
	}
	a.polling = false
	changed := !a.started
	if m.user != nil {
		changed = changed || m.user.Role != a.Access.Role
		a.user, a.Access.Role = m.user.UserName, m.user.Role
	}
	if changed {
		return a.start()
	}
	if m.err == nil && a.conn.canReconnect(a.Now) { // other kinds may be in effect
		return tea.Batch(a.listen(), a.fetchKinds())
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
func (a *account) signedIn(m signedInMsg) tea.Cmd {
	if m.err != nil && m.form.IsOpen() {
		a.toasts.Log(signInAction+": "+ui.Describe(m.err), a.Now)
		resetPassword(m.form, m.err)
		return nil
	}
	if m.err != nil {
		a.ShowFetchError(signInAction, m.err)
		return nil
	}
	m.form.Finish()
	if f, isForm := a.overlay.(*ui.Form); isForm && f.IsSignIn && a.pendingChange != nil {
		a.overlay = nil // the pending change is repeated now
	}
	a.user, a.Access.Role, a.started, a.conn.signedOut, a.conn.rejectedErr = m.user, "", false, false, nil
	a.Notify(ui.Info, "signed in as "+m.user)
	return tea.Batch(a.fetchAccount(), a.fetchKinds(), a.runPending())
}

// retryAfterSignIn wraps a command so that it is repeated after a sign-in if the session has
// expired.
func (a *account) retryAfterSignIn(name string, cmd tea.Cmd) tea.Cmd {
	session := a.Session
	return func() tea.Msg {
		m := cmd()
		if r, _ := baseOf(m); ui.SignedOut(r.err) {
			return pendingMsg{responseBase{err: r.err}, pendingChange{name: name, cmd: cmd}, session}
		}
		return m
	}
}

// keepPending stores a change and opens the sign-in form.
func (a *account) keepPending(change pendingChange) {
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
	a.pendingChange, a.input = &change, nil
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
	responseBase
	change  pendingChange
	session *ui.Session // that made the request
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

// switcher switches between profiles.
type switcher struct {
	*App
	profiles []Profile
}

// picker returns the picker of profiles.
func (s *switcher) picker() ui.Overlay {
	p := &ui.Picker{HostSession: ui.NewHostSession(s.App), Title: "Profiles", Note: keymap.KeyFor(keymap.InMenu, keymap.Accept) + " switch (loaded rows and marks are lost)   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " cancel"}
	longest := 0
	for _, one := range s.profiles {
		longest = max(longest, len(one.Name))
	}
	for i, one := range s.profiles {
		mark := "  "
		if one.Name == s.Profile {
			mark, p.At = s.Theme.Mark+" ", i
		}
		rights := ""
		switch {
		case one.ReadOnly:
			rights = "  read-only"
		case one.Protected:
			rights = "  protected"
		}
		spans := append([]theme.Span{{Text: mark}}, s.Theme.Profile(one.Name, one.Colour)...)
		p.Choices = append(p.Choices, ui.Choice{
			Spans:  append(spans, theme.Span{Text: strings.Repeat(" ", longest-len(one.Name)) + ui.ShortURL(one.URL)}, theme.Span{Text: rights, Role: theme.Dim}),
			Choose: func() tea.Cmd { return s.switchTo(one.Name) },
		})
	}
	if len(s.profiles) == 0 {
		p.Note = "No profiles; add one with whctl profile create.   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " close"
	}
	return p
}

// listProfiles loads the profiles, and opens the picker if open is set.
func (s *switcher) listProfiles(open bool) tea.Cmd {
	list, session := s.options.Profiles, s.Session
	if list == nil {
		if open {
			s.Notify(ui.Warning, "no other profiles available")
		}
		return nil
	}
	return func() tea.Msg {
		all, err := list()
		return profilesMsg{responseBase{err: err}, all, open, session}
	}
}

// profilesFetched stores the profiles, and opens the picker if requested.
func (s *switcher) profilesFetched(m profilesMsg) {
	if m.err != nil {
		s.ShowError("loading profiles", m.err)
		return
	}
	s.profiles = m.list
	if m.open && m.session == s.Session && s.overlay == nil && s.input == nil {
		s.overlay = s.picker()
	}
}

// switchTo switches to another profile.
func (s *switcher) switchTo(name string) tea.Cmd {
	switch {
	case name == s.Profile:
		s.Notify(ui.Info, "already using "+name)
	case s.blocker() != "":
		s.Notify(ui.Warning, s.blocker())
	case s.options.Switch == nil:
		s.Notify(ui.Warning, "no other profiles available")
	default:
		s.Notify(ui.Info, "switching to "+name)
		return s.openProfile(name)
	}
	return nil
}

// blocker returns why the profile cannot be switched now, "" if it can.
func (s *switcher) blocker() string {
	switch {
	case len(s.delayed) > 0:
		return "a delete is pending: " + keymap.KeyFor(keymap.Everywhere, keymap.Undo) + " undoes it, or wait until it is sent"
	case s.jobs.running() > 0:
		return "an export is running: " + keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs) + " shows it"
	}
	return ""
}

// switched replaces the session by one of another profile. Only the theme and the time
// mode are kept.
func (s *switcher) switched(m switchedMsg) tea.Cmd {
	if m.err != nil {
		s.ShowError("switching profiles", m.err)
		return nil
	}
	if reason := s.blocker(); reason != "" { // a change or export has started since
		s.Notify(ui.Warning, reason)
		return nil
	}
	s.closeAll()
	times := s.Times
	s.options = m.options.withSession(s.options)
	s.begin(m.client, m.state, s.Theme)
	s.Times = times
	s.pendingChange, s.quitPending = nil, false
	s.conn = connection{session: s.conn.session}
	cmd := s.connect()
	if m.stateErr != nil {
		s.ShowError("loading saved settings of "+s.Profile, m.stateErr)
	} else {
		s.Notify(ui.Info, "switched to "+s.Profile)
	}
	return cmd
}

// closeAll closes every screen and the stream, and cancels all requests.
func (s *switcher) closeAll() {
	for tab := range s.stacks {
		for _, s := range s.stacks[tab] {
			s.Stop()
		}
		s.stacks[tab] = nil
	}
	s.tab, s.previous, s.overlay, s.input = homeTab, location{}, nil, nil
	s.cancel()
	s.watchers = nil
	clear(s.stale)
}

// switchedMsg contains the client and settings of another profile.
type switchedMsg struct {
	responseBase
	client   *client.Client
	options  Options
	state    *state.Store
	stateErr error // why its saved settings cannot be loaded
}

// profilesMsg contains the profiles.
type profilesMsg struct {
	responseBase
	list    []Profile
	open    bool        // open the picker
	session *ui.Session // that made the request
}

// openProfile opens another profile.
func (s *switcher) openProfile(name string) tea.Cmd {
	open, dir := s.options.Switch, s.options.State
	return func() tea.Msg {
		c, o, err := open(name)
		if err != nil {
			return switchedMsg{responseBase: responseBase{err: err}}
		}
		k, err := state.Open(dir, name)
		return switchedMsg{client: c, options: o, state: k, stateErr: err}
	}
}
