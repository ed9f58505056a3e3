package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/ui"
)

// newLogin asks for a password, where the session has ended.
func newLogin(a *app) ui.Overlay {
	f := ui.NewForm(a, "Sign in to "+ui.ShortURL(a.URL), "sign in")
	f.Login = true
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
	f.Leave = a.giveUp
	return f
}

// signingIn is what fails where a password is wrong.
const signingIn = "signing in"

// signedIn goes on after the sign-in.
func (a *app) signedIn(m signedInMsg) tea.Cmd {
	if m.err != nil && m.form.IsOpen() {
		a.toasts.Note(signingIn+": "+ui.Describe(m.err), a.Now)
		askAgain(m.form, m.err)
		return nil
	}
	if m.err != nil {
		a.FetchFailed(signingIn, m.err)
		return nil
	}
	m.form.Finish()
	if f, asked := a.over.(*ui.Form); asked && f.Login && a.held != nil {
		a.over = nil // what it was asked for is made now
	}
	a.user, a.link.signedOut, a.link.refused = m.user, false, nil
	a.Tell(ui.Info, "signed in as "+m.user)
	return tea.Batch(a.listen(), a.whoAmI(), a.refresh(), a.release())
}

// askAgain asks for the password once more, and says why.
func askAgain(f *ui.Form, err error) {
	f.At = len(f.Fields) - 1
	password := f.Fields[f.At]
	password.Input.SetValue("")
	password.Wrong = err.Error()
}
