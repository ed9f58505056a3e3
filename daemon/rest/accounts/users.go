package accounts

import (
	"net/http"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
	"github.com/bizhook/whd/daemon/rest/form"
)

// The members of users and API keys, and the path parameters.
const (
	MemberDisplayName     = "DisplayName"
	MemberRole            = "Role"
	MemberCurrentPassword = "CurrentPassword"
	MemberName            = "Name"
	MemberExpiry          = "ExpiryDateTime"
	inKeyID               = "KeyID"
)

// users has the handlers of /Users.
type users struct{ accounts *account.Service }

func userDocument(u account.User) wire.User {
	return wire.User{
		UserName:          u.Name,
		DisplayName:       u.DisplayName,
		Role:              u.Role.String(),
		AddedDateTime:     dateText(u.Added),
		LastSavedDateTime: dateText(u.Saved),
	}
}

// dateText returns a time of accounts as text, empty for the zero time.
func dateText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(wire.DateLayout)
}

// List returns the users.
func (h *users) List(x *edge.Context) error {
	users, err := h.accounts.Users(x.Request.Context())
	return form.ListPage(x, "Users", users, err, userDocument)
}

// Add creates a user.
func (h *users) Add(x *edge.Context) error {
	f := form.Read(x)
	n := account.NewUser{
		Name:        f.Required(MemberUser),
		Password:    f.Required(MemberPassword),
		Role:        form.Require(f, MemberRole, account.ParseRole),
		DisplayName: form.Or(form.Value(f, MemberDisplayName, form.Text), ""),
	}
	f.Check(n.Check)
	if err := f.Done(x); err != nil {
		return err
	}
	u, err := h.accounts.As(Actor(x)).AddUser(x.Request.Context(), n)
	return x.Created("/Users", u.Name, "User", userDocument(u), err)
}

// parseRole parses a role. Package account rejects an empty one.
func parseRole(text string) (account.Role, error) {
	if text == "" {
		return account.NoRole, nil
	}
	return account.ParseRole(text)
}

// Show returns a user: any user to admins, others only themselves.
func (h *users) Show(x *edge.Context) error {
	name := x.Params.Get(MemberUser)
	if err := ownOrAdmin(x, name); err != nil {
		return err
	}
	return h.write(x, name)
}

// write responds with a user.
func (h *users) write(x *edge.Context, name string) error {
	u, err := h.accounts.User(x.Request.Context(), name)
	return x.Respond("User", userDocument(u), err)
}

// isOwn reports whether the request is from the user with the name, not from an API
// key.
func isOwn(x *edge.Context, name string) bool {
	return x.Identity.UserID != "" && account.Fold(x.Identity.Name) == account.Fold(name)
}

// ownOrAdmin returns an error if the request is neither from the user with the name nor from an
// admin.
func ownOrAdmin(x *edge.Context, name string) error {
	if isOwn(x, name) || x.Identity.Role.Includes(account.Admin) {
		return nil
	}
	return fault.New(fault.Forbidden, "only an admin may read and change other users; %s has the role %s",
		x.Identity.Name, x.Identity.Role)
}

// Change updates the display name, role or password of a user.
func (h *users) Change(x *edge.Context) error {
	name := x.Params.Get(MemberUser)
	if err := ownOrAdmin(x, name); err != nil {
		return err
	}
	f := form.Read(x)
	f.Knows(MemberUser) // set by the path
	update := account.Update{
		DisplayName: form.Value(f, MemberDisplayName, form.Text),
		Role:        form.Value(f, MemberRole, parseRole),
		Password:    form.Value(f, MemberPassword, form.Text),
	}
	if err := h.mayChange(x, f, name, update); err != nil {
		return err
	}
	if update != (account.Update{}) {
		if err := h.accounts.As(Actor(x)).UpdateUser(x.Request.Context(), name, update); err != nil {
			return err
		}
	}
	if update.Password != nil && isOwn(x, name) && x.Identity.AuthMethod == account.Cookie {
		http.SetCookie(x.Response, expiredCookie(x)) // the change has ended the session
	}
	return h.write(x, name)
}

// mayChange rejects changes that only admins may make. Other users must send their
// current password to change it, so that an unattended browser session is not
// sufficient to take over an account.
func (h *users) mayChange(x *edge.Context, f *form.Form, name string, update account.Update) error {
	isAdmin := x.Identity.Role.Includes(account.Admin)
	current, hasCurrent := f.Given(MemberCurrentPassword)
	if update.Password != nil && !isAdmin {
		current = f.Required(MemberCurrentPassword)
	}
	if err := f.Done(x); err != nil {
		return err
	}
	if update.Role != nil && !isAdmin {
		return &fault.Error{
			Kind:    fault.Forbidden,
			Message: "only an admin may change roles",
			Fields:  []fault.Field{{Name: MemberRole, Message: "requires the role admin"}},
		}
	}
	if update.Password == nil || !hasCurrent || !isOwn(x, name) {
		return nil
	}

	err := h.accounts.CheckPassword(x.Request.Context(), account.Login{
		UserName: name,
		Password: current,
		Address:  x.Origin.Address,
	})
	if fault.Is(err, fault.Unauthorized) {
		return &fault.Error{
			Kind:    fault.Invalid,
			Message: "The password cannot be changed",
			Fields:  []fault.Field{{Name: MemberCurrentPassword, Message: "is not the current password"}},
		}
	}
	return err
}

// Remove removes a user.
func (h *users) Remove(x *edge.Context) error {
	return x.NoContent(h.accounts.As(Actor(x)).RemoveUser(x.Request.Context(), x.Params.Get(MemberUser)))
}
