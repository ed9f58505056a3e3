package tui

import (
	tea "github.com/charmbracelet/bubbletea"

	"github.com/bizhook/whd/tui/session"
	"github.com/bizhook/whd/tui/ui"
)

// newSignIn returns the sign-in form.
func newSignIn(h ui.Host, account *session.Account, changes *session.Changes) *ui.Form {
	s := h.CurrentSession()
	f := ui.NewForm(h, "Sign in to "+ui.ShortURL(s.URL), "sign in")
	f.IsSignIn = true
	if name, ok := changes.Pending(); ok {
		f.Notes = []string{"sent after sign-in: " + name}
	}
	f.Add("UserName", "User", s.Access.User, "")
	f.Add("Password", "Password", "", "not stored; used for this session only").Masked = true
	if s.Access.User != "" {
		f.At = 1
	}
	f.Send = func(values map[string]string, _ bool) tea.Cmd {
		return account.SignIn(f, values["UserName"], values["Password"])
	}
	f.OnCancel = changes.Drop
	return f
}
