package account

import (
	"fmt"
	"strings"
)

// Role is what an account may do. Each role includes those before it, so roles
// compare as numbers do.
type Role uint8

// The roles. The zero value may do nothing.
const (
	NoRole    Role = iota
	Reader         // run queries
	Publisher      // and raise events
	Writer         // and change custom field values of bills
	Admin          // and manage accounts, settings and subscribers
)

var roleNames = [...]string{NoRole: "", Reader: "reader", Publisher: "publisher", Writer: "writer", Admin: "admin"}

// Roles lists the roles that an account can have, the least first.
func Roles() []Role { return []Role{Reader, Publisher, Writer, Admin} }

// ParseRole reads a role's name in any letter case.
func ParseRole(text string) (Role, error) {
	for _, r := range Roles() {
		if strings.EqualFold(text, r.String()) {
			return r, nil
		}
	}
	return NoRole, fmt.Errorf("must be one of %s", strings.Join(roleNames[Reader:], ", "))
}

// Includes reports whether an account of role r may do what other may.
func (r Role) Includes(other Role) bool { return r >= other }

// String is the role's name.
func (r Role) String() string {
	if int(r) >= len(roleNames) {
		return fmt.Sprintf("Role(%d)", uint8(r))
	}
	return roleNames[r]
}

// MarshalText gives the role's name, for JSON.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the role's name.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}
