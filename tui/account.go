package tui

import (
	"context"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/tui/keymap"
	"github.com/bizhook/whd/tui/state"
	"github.com/bizhook/whd/tui/theme"
	"github.com/bizhook/whd/tui/ui"
)

// account is who the user is to the service, and what may be changed.
type account struct {
	*App
	user      string
	features  map[string]bool // of the service; nil while it has not said
	held      *unsent         // what a sign-in releases; nil for nothing
	forbidden int             // how often :ro was said
	locked    map[string]bool // profiles that :ro was said of
}

// whoAmI asks who we are to the service, and what it can do.
func (a *account) whoAmI() tea.Cmd {
	c, session := a.Client, a.Session
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(session.Context, quick)
		defer cancel()
		m := whoMsg{session: session}
		if m.info, m.err = c.Info(ctx); m.err != nil {
			m.info = nil
			return m
		}
		m.user, m.err = c.CurrentSession(ctx)
		return m
	}
}

// unlock asks for a client that may change things.
func (a *account) unlock() tea.Cmd {
	make, session, asked := a.options.Unlock, a.Session, a.forbidden
	return func() tea.Msg {
		c, err := make()
		return unlockedMsg{reply{err: err}, c, session, asked}
	}
}

// signIn starts a session, as a form asks.
func (a *account) signIn(f *ui.Form, user, password string) tea.Cmd {
	c, session := a.Client, a.Session
	return func() tea.Msg {
		_, err := c.Login(session.Context, user, password)
		return signedInMsg{reply: reply{err: err}, session: session, user: user, form: f}
	}
}

// askWho asks for a password when the session has just ended.
func (a *account) askWho(was bool) {
	if a.link.signedOut && !was && a.over == nil && a.line == nil {
		a.over = a.App.login()
	}
}

// onSession learns who we are and what the service can do.
func (a *account) onSession(m whoMsg) tea.Cmd {
	if m.session != a.Session {
		return nil
	}
	a.polling = false
	if m.info != nil {
		a.features = make(map[string]bool)
		for _, name := range m.info.Features {
			a.features[name] = true
		}
	}
	if m.user != nil {
		a.user = m.user.UserName
	}
	if m.err == nil && a.link.idle(a.Now) {
		return a.listen()
	}
	return nil
}

// forbid begins the read-only mode, which stays with the profile.
func (a *account) forbid() tea.Cmd {
	a.ReadOnly, a.locked[a.Profile] = true, true
	a.forbidden++
	a.Notify(ui.Info, "nothing can be changed now (:rw lifts it)")
	return nil
}

// allow lifts the read-only mode. Of a protected profile its name has to be
// typed.
func (a *account) allow(name string) tea.Cmd {
	switch {
	case !a.ReadOnly:
		a.Notify(ui.Info, "changes are allowed already")
	case a.options.Unlock == nil:
		a.Notify(ui.Warning, "this session can only read; start whctl tui without --read-only")
	case a.Protected && name != a.Profile:
		a.Notify(ui.Warning, "the profile is protected: type :rw "+a.Profile)
	default:
		return a.unlock()
	}
	return nil
}

// signedIn goes on after the sign-in.
func (a *account) signedIn(m signedInMsg) tea.Cmd {
	if m.err != nil && m.form.IsOpen() {
		a.toasts.Log(signingIn+": "+ui.Describe(m.err), a.Now)
		askAgain(m.form, m.err)
		return nil
	}
	if m.err != nil {
		a.ShowFetchError(signingIn, m.err)
		return nil
	}
	m.form.Finish()
	if f, asked := a.over.(*ui.Form); asked && f.IsSignIn && a.held != nil {
		a.over = nil // what it was asked for is made now
	}
	a.user, a.link.signedOut, a.link.refused = m.user, false, nil
	a.Notify(ui.Info, "signed in as "+m.user)
	return tea.Batch(a.listen(), a.whoAmI(), a.refresh(), a.release())
}

// repeatable makes a command that changes something one that can be made again
// after a sign-in.
func (a *account) repeatable(what string, cmd tea.Cmd) tea.Cmd {
	session := a.Session
	return func() tea.Msg {
		m := cmd()
		if r, _ := about(m); ui.SignedOut(r.err) {
			return heldMsg{reply{err: r.err}, unsent{what: what, again: cmd}, session}
		}
		return m
	}
}

// hold keeps a change and asks for the password.
func (a *account) hold(h unsent) {
	h.under = a.over
	if s, told := a.over.(*ui.Secret); told {
		h.under = s.Below // the password is asked for below it
	}
	if f, asked := h.under.(*ui.Form); asked && f.IsSignIn {
		h.under = nil
		if a.held != nil {
			h.under = a.held.under
		}
	}
	a.held, a.line = &h, nil
	a.over = a.App.login()
}

// release makes what was held, once somebody has signed in.
func (a *account) release() tea.Cmd {
	h := a.held
	if h == nil {
		return nil
	}
	if a.held = nil; a.over == nil {
		a.over = h.under
	}
	a.Notify(ui.Info, "now: "+h.what)
	again := a.repeatable(h.what, h.again)
	if h.form == nil {
		return again
	}
	return h.form.Track(again)
}

// giveUp forgets what was held: nobody signed in.
func (a *account) giveUp() {
	if a.held == nil {
		return
	}
	a.over = a.held.under
	a.Notify(ui.Warning, "not done: "+a.held.what)
	a.held = nil
}

// SignInPending reports whether a change waits for a sign-in.
func (a *account) SignInPending() bool { return a.held != nil }

// unsent is a change that the service refused since the session had ended. It is
// made after the next sign-in.
type unsent struct {
	what  string // for people
	again tea.Cmd
	form  *ui.Form   // that it was sent by; nil for none
	under ui.Overlay // what the question for the password covers
}

// heldMsg says that a change was not made, since we are not signed in.
type heldMsg struct {
	reply
	unsent  unsent
	session *ui.Session // that asked
}

// login asks for a password, where the session has ended.
func (a *account) login() ui.Overlay {
	f := ui.NewForm(a.App, "Sign in to "+ui.ShortURL(a.URL), "sign in")
	f.IsSignIn = true
	if a.held != nil {
		f.Notes = []string{"your action (" + a.held.what + ") runs after"}
	}
	f.Add("UserName", "User", a.user, "")
	f.Add("Password", "Password", "", "it is kept for this session only").Masked = true
	if a.user != "" {
		f.At = 1
	}
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		return a.signIn(f, values["UserName"], values["Password"])
	}
	f.OnCancel = a.giveUp
	return f
}

// signingIn is what fails where a password is wrong.
const signingIn = "signing in"

// askAgain asks for the password once more, and says why.
func askAgain(f *ui.Form, err error) {
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

// choice lets another profile be chosen.
func (s *switcher) choice() ui.Overlay {
	p := &ui.Picker{Dialog: ui.NewDialog(s.App), Title: "Profiles", Note: keymap.KeyFor(keymap.InMenu, keymap.Accept) + " switches and forgets rows and marks of this one   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " stay"}
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
		p.Note = "No profiles yet: whctl profile create makes one.   " + keymap.KeyFor(keymap.InMenu, keymap.GoBack) + " close"
	}
	return p
}

// listProfiles finds out what can be switched to.
func (s *switcher) listProfiles(ask bool) tea.Cmd {
	list, session := s.options.Profiles, s.Session
	if list == nil {
		if ask {
			s.Notify(ui.Warning, "this session knows no other profiles")
		}
		return nil
	}
	return func() tea.Msg {
		all, err := list()
		return profilesMsg{reply{err: err}, all, ask, session}
	}
}

// listed takes up the profiles, and asks which one where that is wanted.
func (s *switcher) listed(m profilesMsg) {
	if m.err != nil {
		s.ShowError("reading the profiles", m.err)
		return
	}
	s.profiles = m.list
	if m.ask && m.session == s.Session && s.over == nil && s.line == nil {
		s.over = s.choice()
	}
}

// switchTo leaves this profile for another one.
func (s *switcher) switchTo(name string) tea.Cmd {
	switch {
	case name == s.Profile:
		s.Notify(ui.Info, "this is "+name+" already")
	case s.bound() != "":
		s.Notify(ui.Warning, s.bound())
	case s.options.Switch == nil:
		s.Notify(ui.Warning, "this session knows no other profiles")
	default:
		s.Notify(ui.Info, "switching to "+name)
		return s.openProfile(name)
	}
	return nil
}

// bound says what keeps one in this profile; empty for nothing.
func (s *switcher) bound() string {
	switch {
	case len(s.delayed) > 0:
		return "a delete still waits here: " + keymap.KeyFor(keymap.Everywhere, keymap.Undo) + " takes it back, or wait until it is sent"
	case s.jobs.running() > 0:
		return "an export is still on the way here: " + keymap.KeyFor(keymap.Everywhere, keymap.ShowJobs) + " shows it"
	}
	return ""
}

// switched begins with another profile: nothing of the former one stays but the
// look of things.
func (s *switcher) switched(m switchedMsg) tea.Cmd {
	if m.err != nil {
		s.ShowError("still "+s.Profile+", since the other profile cannot be used", m.err)
		return nil
	}
	if why := s.bound(); why != "" { // since then
		s.Notify(ui.Warning, why)
		return nil
	}
	s.abandon()
	times := s.Times
	s.options = m.options.within(s.options)
	s.begin(m.client, m.state, s.Theme)
	s.Times = times
	s.features, s.polling, s.held, s.ending = nil, false, nil, false
	s.link = link{session: s.link.session}
	s.resize()
	if m.unkept != nil {
		s.ShowError("what was kept of "+s.Profile, m.unkept)
	} else {
		s.Notify(ui.Info, "this is "+s.Profile+" now")
	}
	return tea.Batch(s.openTab(homeTab), s.whoAmI(), s.listen())
}

// abandon leaves every screen, ends the stream, and gives up what is asked.
func (s *switcher) abandon() {
	for tab := range s.stacks {
		for _, s := range s.stacks[tab] {
			s.Stop()
		}
		s.stacks[tab] = nil
	}
	s.tab, s.former, s.over, s.line = homeTab, place{}, nil, nil
	s.leave()
	s.watchers = nil
	clear(s.outdated)
}

// switchedMsg brings another profile.
type switchedMsg struct {
	reply
	client  *client.Client
	options Options
	state   *state.Store
	unkept  error // what was kept of it cannot be read
}

// profilesMsg brings what can be switched to.
type profilesMsg struct {
	reply
	list    []Profile
	ask     bool        // which one
	session *ui.Session // that asked
}

// openProfile makes a client of another profile.
func (s *switcher) openProfile(name string) tea.Cmd {
	open, dir := s.options.Switch, s.options.State
	return func() tea.Msg {
		c, o, err := open(name)
		if err != nil {
			return switchedMsg{reply: reply{err: err}}
		}
		k, err := state.Open(dir, name)
		return switchedMsg{client: c, options: o, state: k, unkept: err}
	}
}
