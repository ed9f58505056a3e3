package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// newLogin asks for a password, where the session has ended.
func newLogin(a *app) overlay {
	f := newForm(a, "Sign in to "+ui.ShortURL(a.URL), "sign in")
	f.login = true
	if a.held != nil {
		f.notes = []string{"your action (" + a.held.what + ") runs after"}
	}
	f.add("UserName", "User", a.user, "")
	f.add("Password", "Password", "", "it is kept for this session only").masked = true
	if a.user != "" {
		f.at = 1
	}
	f.send = func(values map[string]string, _ bool) tea.Cmd {
		return a.signIn(f, values["UserName"], values["Password"])
	}
	f.leave = a.giveUp
	return f
}

// signingIn is what fails where a password is wrong.
const signingIn = "signing in"

// signedIn goes on after the sign-in.
func (a *app) signedIn(m signedInMsg) tea.Cmd {
	if m.err != nil && m.form.open() {
		a.toasts.Note(signingIn+": "+ui.Describe(m.err), a.Now)
		askAgain(m.form, m.err)
		return nil
	}
	if m.err != nil {
		a.FetchFailed(signingIn, m.err)
		return nil
	}
	m.form.close()
	if f, asked := a.over.(*form); asked && f.login && a.held != nil {
		a.over = nil // what it was asked for is made now
	}
	a.user, a.link.signedOut, a.link.refused = m.user, false, nil
	a.Tell(ui.Info, "signed in as "+m.user)
	return tea.Batch(a.listen(), a.whoAmI(), a.refresh(), a.release())
}

// askAgain asks for the password once more, and says why.
func askAgain(f *form, err error) {
	f.at = len(f.fields) - 1
	password := f.fields[f.at]
	password.input.SetValue("")
	password.wrong = err.Error()
}
