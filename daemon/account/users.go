package account

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
)

const (
	maxName        = 256 // bytes
	maxDisplayName = 256 // bytes
)

// FirstUser is the name of the user that EnsureAdmin makes.
const FirstUser = "admin"

// Fold is the form of a name of a user or key under which it is stored and
// found: letter case does not count, nor do spaces at the end, which SQL Server
// ignores in any comparison.
func Fold(name string) string {
	return strings.ToLower(strings.ToUpper(strings.TrimRight(name, " ")))
}

// checkName says what is wrong with the name of a new user or key, "" if
// nothing. A colon would end the name in HTTP Basic, a slash in a URL's path.
func checkName(name string) string {
	switch {
	case strings.TrimRight(name, " ") == "":
		return "must not be empty"
	case len(name) > maxName || len(Fold(name)) > maxName:
		return fmt.Sprintf("must have at most %d bytes", maxName)
	case !utf8.ValidString(name) || strings.TrimSpace(name) != name:
		return "must not begin or end with a space"
	case strings.ContainsAny(name, ":/") || strings.ContainsFunc(name, unicode.IsControl):
		return "must not contain a colon, a slash or control characters"
	case strings.Trim(name, ".") == "":
		return "must not consist of dots"
	}
	return ""
}

func checkDisplayName(name string) string {
	if len(name) > maxDisplayName || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
		return fmt.Sprintf("must have at most %d bytes and no control characters", maxDisplayName)
	}
	return ""
}

func checkRole(r Role) string {
	if r < Reader || r > Admin {
		return fmt.Sprintf("must be one of %s", strings.Join(roleNames[Reader:], ", "))
	}
	return ""
}

// invalid makes one failure of what is wrong with several members, nil where
// nothing is.
func invalid(what string, fields ...fault.Field) error {
	var wrong []fault.Field
	for _, f := range fields {
		if f.Message != "" {
			wrong = append(wrong, f)
		}
	}
	if wrong == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Message: "The " + what + " cannot be saved", Fields: wrong}
}

// Editor changes accounts in somebody's name, which the audit trail keeps with
// each change.
type Editor struct {
	s  *Service
	by audit.Actor
}

// As gives the Editor for who makes a change.
func (s *Service) As(by audit.Actor) *Editor { return &Editor{s, by} }

func (e *Editor) entry(a audit.Action, subject string, d audit.Detail) audit.Entry {
	return audit.Entry{Actor: e.by, At: e.s.clock(), Action: a, Subject: subject, Detail: d.String()}
}

func (e *Editor) addition(u User) audit.Entry {
	var d audit.Detail
	d.Set("Role", u.Role.String())
	if u.DisplayName != "" {
		d.Set("DisplayName", u.DisplayName)
	}
	return e.entry(audit.AddUser, u.Name, d)
}

// NewUser is a user to add.
type NewUser struct {
	Name        string
	DisplayName string
	Role        Role
	Password    string
}

// AddUser adds a user.
func (e *Editor) AddUser(ctx context.Context, n NewUser) (User, error) {
	u, err := e.s.newUser(ctx, n)
	if err != nil {
		return User{}, err
	}
	if err := e.s.store.AddUser(ctx, u, e.addition(u)); err != nil {
		return User{}, err
	}
	e.s.forgetUser(n.Name)
	return u, nil
}

func (s *Service) newUser(ctx context.Context, n NewUser) (User, error) {
	err := invalid("user",
		fault.Field{Name: "UserName", Message: checkName(n.Name)},
		fault.Field{Name: "DisplayName", Message: checkDisplayName(n.DisplayName)},
		fault.Field{Name: "Role", Message: checkRole(n.Role)},
		fault.Field{Name: "Password", Message: checkPassword(n.Password)})
	if err != nil {
		return User{}, err
	}
	hash, err := s.hasher.hash(ctx, n.Password)
	if err != nil {
		return User{}, err
	}
	now := s.clock()
	return User{ID: newID(), Name: n.Name, DisplayName: n.DisplayName, Role: n.Role, PasswordHash: hash, Added: now, Saved: now}, nil
}

// EnsureAdmin adds the user admin where there is no user at all.
func (s *Service) EnsureAdmin(ctx context.Context, password string) (created bool, err error) {
	users, err := s.store.Users(ctx)
	if err != nil || len(users) > 0 {
		return false, err
	}
	u, err := s.newUser(ctx, NewUser{Name: FirstUser, Role: Admin, Password: password})
	if err != nil {
		return false, err
	}
	// Another daemon that starts at the same moment may have been faster.
	created, err = s.store.AddFirstUser(ctx, u, s.As(audit.System()).addition(u))
	if err == nil && created {
		s.forgetUser(FirstUser)
	}
	return created, err
}

// Users lists the users by name.
func (s *Service) Users(ctx context.Context) ([]User, error) { return s.store.Users(ctx) }

// User finds a user.
func (s *Service) User(ctx context.Context, name string) (User, error) {
	u, err := s.store.User(ctx, Fold(name))
	if err != nil {
		return User{}, err
	}
	if u == nil {
		return User{}, fault.New(fault.NotFound, "There is no user of this name")
	}
	return *u, nil
}

// Update is what to change of a user. Nil members stay as they are.
type Update struct {
	DisplayName *string
	Role        *Role
	Password    *string
}

// UpdateUser changes a user. A new password ends the user's sessions.
func (e *Editor) UpdateUser(ctx context.Context, name string, up Update) error {
	if err := up.check(); err != nil {
		return err
	}
	change := Change{DisplayName: up.DisplayName, Role: up.Role}
	if up.Password != nil {
		hash, err := e.s.hasher.hash(ctx, *up.Password)
		if err != nil {
			return err
		}
		change.PasswordHash = &hash
	}
	changed, err := e.s.store.ChangeUser(ctx, Fold(name), change, e.entry(audit.ChangeUser, name, up.detail()))
	e.s.forgetUser(name)
	if err != nil || changed {
		return err
	}
	return e.s.refused(ctx, name)
}

// detail says of a password only that there is another one.
func (up Update) detail() (d audit.Detail) {
	if up.Role != nil {
		d.Set("Role", up.Role.String())
	}
	if up.DisplayName != nil {
		d.Set("DisplayName", *up.DisplayName)
	}
	if up.Password != nil {
		d.Set("Password", "***")
	}
	return d
}

func (up Update) check() error {
	var fields []fault.Field
	if up.DisplayName != nil {
		fields = append(fields, fault.Field{Name: "DisplayName", Message: checkDisplayName(*up.DisplayName)})
	}
	if up.Role != nil {
		fields = append(fields, fault.Field{Name: "Role", Message: checkRole(*up.Role)})
	}
	if up.Password != nil {
		fields = append(fields, fault.Field{Name: "Password", Message: checkPassword(*up.Password)})
	}
	return invalid("user", fields...)
}

// SetPassword gives a user a new password and ends the user's sessions.
func (e *Editor) SetPassword(ctx context.Context, name, password string) error {
	return e.UpdateUser(ctx, name, Update{Password: &password})
}

// SetRole gives a user another role. Sessions go on with the new role.
func (e *Editor) SetRole(ctx context.Context, name string, r Role) error {
	return e.UpdateUser(ctx, name, Update{Role: &r})
}

// RemoveUser removes a user and ends the user's sessions.
func (e *Editor) RemoveUser(ctx context.Context, name string) error {
	removed, err := e.s.store.RemoveUser(ctx, Fold(name), e.entry(audit.RemoveUser, name, nil))
	e.s.forgetUser(name)
	if err != nil || removed {
		return err
	}
	return e.s.refused(ctx, name)
}

// refused says why a change of a user did nothing.
func (s *Service) refused(ctx context.Context, name string) error {
	if _, err := s.User(ctx, name); err != nil {
		return err
	}
	return fault.New(fault.Conflict, "This is the last admin; make another user admin first")
}
