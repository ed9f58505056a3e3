package rest

import (
	"net/http"
	"time"

	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/daemon/account"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/rest/edge"
)

// The members of users and API keys, and the parameters of their paths.
const (
	memberDisplayName     = "DisplayName"
	memberRole            = "Role"
	memberCurrentPassword = "CurrentPassword"
	memberName            = "Name"
	memberExpiry          = "ExpiryDateTime"
	inKeyID               = "KeyID"
)

// users are the handlers of /Users.
type users struct{ accounts *account.Service }

func userDocument(u account.User) wire.User {
	return wire.User{
		UserName: u.Name, DisplayName: u.DisplayName, Role: u.Role.String(),
		AddedDateTime: dateText(u.Added), LastSavedDateTime: dateText(u.Saved),
	}
}

// dateText is a time of accounts; the zero time is none.
func dateText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(wire.DateLayout)
}

// list lists the users.
func (h *users) list(x *edge.Context) error {
	users, err := h.accounts.Users(x.Request.Context())
	if err != nil {
		return err
	}
	documents := make([]wire.User, len(users))
	for i, u := range users {
		documents[i] = userDocument(u)
	}
	return x.List("Users", documents, len(documents))
}

// add adds a user.
func (h *users) add(x *edge.Context) error {
	f, err := readForm(x)
	if err != nil {
		return err
	}
	n := account.NewUser{Name: f.required(memberUser), Password: f.required(memberPassword), Role: roleOf(f, f.required(memberRole))}
	n.DisplayName, _ = f.given(memberDisplayName)
	if err := f.done(x); err != nil {
		return err
	}
	u, err := h.accounts.As(actor(x)).AddUser(x.Request.Context(), n)
	if err != nil {
		return err
	}
	return x.Created("/Users", u.Name, "User", userDocument(u))
}

// roleOf reads a role that is there.
func roleOf(f *form, text string) account.Role {
	if text == "" {
		return account.NoRole
	}
	role, err := account.ParseRole(text)
	if err != nil {
		f.refuse(memberRole, err.Error())
	}
	return role
}

// show shows a user: admins everybody, others themselves.
func (h *users) show(x *edge.Context) error {
	name := x.Params.Get(memberUser)
	if err := ownOrAdmin(x, name); err != nil {
		return err
	}
	return h.write(x, name)
}

func (h *users) write(x *edge.Context, name string) error {
	u, err := h.accounts.User(x.Request.Context(), name)
	if err != nil {
		return err
	}
	return x.Document(http.StatusOK, "User", userDocument(u))
}

// isOwn reports whether the user of that name asks. An API key is nobody's.
func isOwn(x *edge.Context, name string) bool {
	return x.Identity.UserID != "" && account.Fold(x.Identity.Name) == account.Fold(name)
}

func ownOrAdmin(x *edge.Context, name string) error {
	if isOwn(x, name) || x.Identity.Role.Includes(account.Admin) {
		return nil
	}
	return fault.New(fault.Forbidden, "only an admin sees and changes other users; %s has the role %s", x.Identity.Name, x.Identity.Role)
}

// change changes the display name, the role or the password of a user.
func (h *users) change(x *edge.Context) error {
	name := x.Params.Get(memberUser)
	if err := ownOrAdmin(x, name); err != nil {
		return err
	}
	f, err := readForm(x)
	if err != nil {
		return err
	}
	f.knows(memberUser) // the path says it
	up := account.Update{DisplayName: f.optional(memberDisplayName), Password: f.optional(memberPassword)}
	if text, ok := f.given(memberRole); ok {
		role := roleOf(f, text)
		up.Role = &role
	}
	if err := h.mayChange(x, f, name, up); err != nil {
		return err
	}
	if up != (account.Update{}) {
		if err := h.accounts.As(actor(x)).UpdateUser(x.Request.Context(), name, up); err != nil {
			return err
		}
	}
	if up.Password != nil && isOwn(x, name) && x.Identity.Via == account.Cookie {
		http.SetCookie(x.Response, endedCookie(x)) // of a session that the change has ended
	}
	return h.write(x, name)
}

// mayChange refuses what only admins may change. Whoever is none shows the
// present password once more to get another: a browser that was left alone must
// not be enough to take an account over.
func (h *users) mayChange(x *edge.Context, f *form, name string, up account.Update) error {
	admin := x.Identity.Role.Includes(account.Admin)
	current, shown := f.given(memberCurrentPassword)
	if up.Password != nil && !admin {
		current = f.required(memberCurrentPassword)
	}
	if err := f.done(x); err != nil {
		return err
	}
	if up.Role != nil && !admin {
		return &fault.Error{Kind: fault.Forbidden, Message: "only an admin gives roles",
			Fields: []fault.Field{{Name: memberRole, Message: "takes the role admin"}}}
	}
	if up.Password == nil || !shown || !isOwn(x, name) {
		return nil
	}
	err := h.accounts.CheckPassword(x.Request.Context(), account.Login{UserName: name, Password: current, Address: x.Origin.Address})
	if fault.Is(err, fault.Unauthorized) {
		return &fault.Error{Kind: fault.Invalid, Message: "The password cannot be changed",
			Fields: []fault.Field{{Name: memberCurrentPassword, Message: "is not the present password"}}}
	}
	return err
}

// remove removes a user.
func (h *users) remove(x *edge.Context) error {
	if err := h.accounts.As(actor(x)).RemoveUser(x.Request.Context(), x.Params.Get(memberUser)); err != nil {
		return err
	}
	return x.NoContent()
}
