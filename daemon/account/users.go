package account

import (
	"context"
	"fmt"
	"strings"

	"github.com/bizhook/whd/daemon/audit"
	"github.com/bizhook/whd/daemon/fault"
	"github.com/bizhook/whd/daemon/naming"
)

const (
	maxName        = 256 // bytes
	maxDisplayName = 256 // bytes
)

// FirstUser is the name of the user that EnsureAdmin creates.
const FirstUser = "admin"

// Fold returns the form of a user's or key's name in which names are compared: without
// letter case and trailing spaces, which SQL Server ignores in comparisons.
func Fold(name string) string {
	return strings.ToLower(strings.ToUpper(strings.TrimRight(name, " ")))
}

// checkName returns the problem with the name of a new user or key, "" if it is valid.
// A colon would end the name in HTTP Basic, a slash in a URL's path.
func checkName(name string) string {
	switch {
	case strings.TrimRight(name, " ") == "":
		return "must not be empty"
	case len(name) > maxName || len(Fold(name)) > maxName:
		return fmt.Sprintf("must have at most %d bytes", maxName)
	case strings.TrimSpace(name) != name:
		return "must not begin or end with a space"
	case strings.ContainsAny(name, ":/"):
		return "must not contain a colon or a slash"
	case strings.Trim(name, ".") == "":
		return "must not consist of dots"
	}
	return naming.Problem(name)
}

func checkDisplayName(name string) string {
	if name == "" {
		return ""
	}
	if len(name) > maxDisplayName {
		return fmt.Sprintf("must have at most %d bytes", maxDisplayName)
	}
	return naming.Problem(name)
}

func checkRole(r Role) string {
	if r < Reader || r > Admin {
		return fmt.Sprintf("must be one of %s", strings.Join(roleNames[Reader:], ", "))
	}
	return ""
}

// invalid returns a failure with the fields that have a message, nil if there are none.
func invalid(resource string, fields ...fault.Field) error {
	var wrong []fault.Field
	for _, f := range fields {
		if f.Message != "" {
			wrong = append(wrong, f)
		}
	}
	if wrong == nil {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Message: "The " + resource + " cannot be saved", Fields: wrong}
}

// Editor changes accounts on behalf of an actor, which is recorded in the audit trail.
type Editor struct {
	s     *Service
	actor audit.Actor
}

// As returns an Editor that records changes as made by the actor.
func (s *Service) As(actor audit.Actor) *Editor { return &Editor{s, actor} }

func (e *Editor) entry(a audit.Action, subject string, d audit.Detail) audit.Entry {
	return audit.Entry{Actor: e.actor, At: e.s.clock(), Action: a, Subject: subject, Detail: d.String()}
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

// Check returns an error with the invalid fields.
func (n NewUser) Check() error {
	return invalid("user",
		fault.Field{Name: "UserName", Message: checkName(n.Name)},
		fault.Field{Name: "DisplayName", Message: checkDisplayName(n.DisplayName)},
		fault.Field{Name: "Role", Message: checkRole(n.Role)},
		fault.Field{Name: "Password", Message: checkPassword(n.Password)})
}

func (s *Service) newUser(ctx context.Context, n NewUser) (User, error) {
	err := n.Check()
	if err != nil {
		return User{}, err
	}
	hash, err := s.hasher.hash(ctx, n.Password)
	if err != nil {
		return User{}, err
	}
	now := s.clock()
	return User{
		ID:           newID(),
		Name:         n.Name,
		DisplayName:  n.DisplayName,
		Role:         n.Role,
		PasswordHash: hash,
		Added:        now,
		Saved:        now,
	}, nil
}

// EnsureAdmin adds the user admin if there are no users.
func (s *Service) EnsureAdmin(ctx context.Context, password string) (created bool, err error) {
	users, err := s.store.Users(ctx)
	if err != nil || len(users) > 0 {
		return false, err
	}
	u, err := s.newUser(ctx, NewUser{Name: FirstUser, Role: Admin, Password: password})
	if err != nil {
		return false, err
	}
	// Another daemon may have created the user concurrently.
	created, err = s.store.AddFirstUser(ctx, u, s.As(audit.System()).addition(u))
	if err == nil && created {
		s.forgetUser(FirstUser)
	}
	return created, err
}

// Users lists the users by name.
func (s *Service) Users(ctx context.Context) ([]User, error) { return s.store.Users(ctx) }

// User returns a user by name. It fails with fault.NotFound if there is none.
func (s *Service) User(ctx context.Context, name string) (User, error) {
	u, err := s.store.User(ctx, Fold(name))
	if err != nil {
		return User{}, err
	}
	if u == nil {
		return User{}, fault.New(fault.NotFound, "There is no user with this name")
	}
	return *u, nil
}

// Update is a change of a user. Nil fields are not changed.
type Update struct {
	DisplayName *string
	Role        *Role
	Password    *string
}

// UpdateUser changes a user. A new password deletes the user's sessions.
func (e *Editor) UpdateUser(ctx context.Context, name string, up Update) error {
	stored, err := e.s.store.User(ctx, Fold(name))
	if err != nil {
		return err
	}
	if err := up.check(stored); err != nil {
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

// detail returns the change for the audit trail. A password is masked.
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

// check returns an error with the invalid fields. stored is the user, nil if there is none: it keeps a
// display name that an earlier build has accepted.
func (up Update) check(stored *User) error {
	var fields []fault.Field
	keepsName := up.DisplayName != nil && stored != nil && stored.DisplayName == *up.DisplayName
	if up.DisplayName != nil && !keepsName {
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

// SetPassword changes a user's password and deletes the user's sessions.
func (e *Editor) SetPassword(ctx context.Context, name, password string) error {
	return e.UpdateUser(ctx, name, Update{Password: &password})
}

// SetRole changes a user's role. Sessions continue with the new role.
func (e *Editor) SetRole(ctx context.Context, name string, r Role) error {
	return e.UpdateUser(ctx, name, Update{Role: &r})
}

// RemoveUser deletes a user and the user's sessions.
func (e *Editor) RemoveUser(ctx context.Context, name string) error {
	removed, err := e.s.store.RemoveUser(ctx, Fold(name), e.entry(audit.RemoveUser, name, nil))
	e.s.forgetUser(name)
	if err != nil || removed {
		return err
	}
	return e.s.refused(ctx, name)
}

// forgetUser removes a user from all caches.
func (s *Service) forgetUser(name string) {
	s.passwords.forgetUser(name)
	s.owners.forget()
}

// refused returns the reason why a change of a user did nothing.
func (s *Service) refused(ctx context.Context, name string) error {
	if _, err := s.User(ctx, name); err != nil {
		return err
	}
	return fault.New(fault.Conflict, "This is the last admin; make another user admin first")
}
