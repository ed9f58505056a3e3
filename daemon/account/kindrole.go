package account

import "github.com/bizhook/whd/client/record"

// KindRole is the role that the records of a kind require, in addition to the role of the route or
// subscription by which they are read. The zero value allows no role. Requests are checked in
// rest/accounts (authorize), owners of subscriptions by OwnerMayRead.
type KindRole struct {
	isValid bool // false: the role of the kind could not be read
	lowest  Role // NoRole if the kind requires none
}

// RoleOf returns the role that the definition of a kind requires. A request without a kind
// requires none.
func RoleOf(kind *record.Kind) KindRole {
	if kind == nil {
		return KindRole{isValid: true}
	}
	return ParseKindRole(kind.Role)
}

// ParseKindRole returns the role of a kind by its name, empty for none. If no role has the
// name, the result allows no role: records are not shown because of a mistake in a name.
func ParseKindRole(name string) KindRole {
	if name == "" {
		return KindRole{isValid: true}
	}
	lowest, err := ParseRole(name)
	return KindRole{isValid: err == nil, lowest: lowest}
}

// Allows reports whether an account with a role may read the records. NoRole stands for
// callers without an account: if they are allowed, the kind requires no role of its own.
func (k KindRole) Allows(r Role) bool { return k.isValid && r.Includes(k.lowest) }
