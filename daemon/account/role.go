package account

import (
	"fmt"
	"strings"
)

// Role determines the permissions of an account. Each role includes those before it, so
// roles can be compared as numbers.
type Role uint8

// The roles. The zero value may do nothing.
const (
	NoRole    Role = iota
	Reader         // run queries
	Publisher      // also publish events
	Writer         // also change custom field values of bills
	Admin          // also manage accounts, settings and subscribers
)

var roleNames = [...]string{NoRole: "", Reader: "reader", Publisher: "publisher", Writer: "writer", Admin: "admin"}

// Roles lists the roles that an account can have, in ascending order.
func Roles() []Role { return []Role{Reader, Publisher, Writer, Admin} }

// ParseRole returns the role with a name, ignoring letter case.
func ParseRole(text string) (Role, error) {
	for _, r := range Roles() {
		if strings.EqualFold(text, r.String()) {
			return r, nil
		}
	}
	return NoRole, fmt.Errorf("must be one of %s", strings.Join(roleNames[Reader:], ", "))
}

// Includes reports whether role r has all permissions of other.
func (r Role) Includes(other Role) bool { return r >= other }

// String returns the role's name.
func (r Role) String() string {
	if int(r) >= len(roleNames) {
		return fmt.Sprintf("Role(%d)", uint8(r))
	}
	return roleNames[r]
}

// MarshalText returns the role's name, for JSON.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText parses a role's name.
func (r *Role) UnmarshalText(text []byte) (err error) {
	*r, err = ParseRole(string(text))
	return err
}
