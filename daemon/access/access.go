// Package access finds accounts that can change the files on which programs with more rights
// rely: the settings that commands of administrators read, and the programs that services run.
package access

import (
	"errors"
	"fmt"
	"io/fs"
)

// Right is something that an account may do with a file or directory.
type Right uint8

const (
	Write   Right = 1 << iota // change the content; of a directory: add files
	Replace                   // delete or rename it, or the files of a directory
	Control                   // change its permissions or its owner
)

// Rights of which others may have none: for a file or directory itself, and for the directories
// above it, in which they may add files.
const (
	anyChange = Write | Replace | Control
	exchange  = Replace | Control
)

// Account is a user or a group.
type Account struct {
	ID   string // a security identifier on Windows; elsewhere a number: "user 0", "group 0"
	Name string // for messages; empty if unknown
}

func (a Account) String() string {
	if a.Name == "" {
		return a.ID
	}
	return a.Name
}

// Grant contains rights of an account.
type Grant struct {
	Account Account
	Rights  Right
}

// Object is a file or directory with its permissions. Entries that deny rights are left out: they
// do not take back rights that another entry allows.
type Object struct {
	Path   string
	IsLink bool // a symbolic link, a junction, or a file with several names; it is not followed
	Owner  Account
	Grants []Grant
}

// ErrExposed is wrapped by errors for files that others can change.
var ErrExposed = errors.New("others can change it")

// exposed is an error with the path and the reason.
type exposed struct{ text string }

func (e exposed) Error() string { return e.text }
func (exposed) Unwrap() error   { return ErrExposed }

// trust decides which accounts may change an object.
type trust func(id string) bool

// check returns an error if an account without trust has one of the rights. An owner can take all.
func (o Object) check(rights Right, isTrusted trust) error {
	if !isTrusted(o.Owner.ID) {
		return exposed{fmt.Sprintf("%s belongs to %v, not to an administrator", o.Path, o.Owner)}
	}
	for _, g := range o.Grants {
		if g.Rights&rights != 0 && !isTrusted(g.Account.ID) {
			return exposed{fmt.Sprintf("%v may change %s", g.Account, o.Path)}
		}
	}
	return nil
}

// checkChain checks a file or directory, and those above it, in this order. The rights of the
// first levels are those that others may not have; further directories may not be exchanged.
func checkChain(chain []Object, isTrusted trust, levels ...Right) error {
	for i, o := range chain {
		rights := exchange
		if i < len(levels) {
			rights = levels[i]
		}
		if err := o.check(rights, isTrusted); err != nil {
			return err
		}
	}
	return nil
}

// CheckFile returns an error that wraps ErrExposed if accounts other than those of administrators,
// of this process and the listed ones can change a file, add others to its directory, or exchange
// a directory above it. A missing file is no error.
func CheckFile(path string, accounts ...string) error {
	return check(path, accounts, anyChange, anyChange)
}

// CheckDir is CheckFile for a directory.
func CheckDir(path string, accounts ...string) error {
	return check(path, accounts, anyChange)
}

func check(path string, accounts []string, levels ...Right) error {
	isTrusted, err := trusting(accounts)
	if err != nil {
		return err
	}
	chains, err := chainsOf(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the permissions of %s: %w", path, err)
	}
	for _, chain := range chains {
		if err := checkChain(chain, isTrusted, levels...); err != nil {
			return err
		}
	}
	return nil
}
