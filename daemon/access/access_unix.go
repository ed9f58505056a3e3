//go:build unix

package access

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Privileged reports whether this process has all rights, so that the settings that it reads
// must not be those of others.
func Privileged() bool { return os.Geteuid() == 0 }

// UserID returns the identifier of a user's account.
func UserID(number uint32) string { return fmt.Sprintf("user %d", number) }

// trusting returns the trust in root, in the user of this process and in the accounts.
func trusting(accounts []string) (trust, error) {
	trusted := append([]string{UserID(0), "group 0", UserID(uint32(os.Geteuid()))}, accounts...)
	return func(id string) bool { return slices.Contains(trusted, id) }, nil
}

// chainsOf returns a file and the directories above it, and the same for the path after each of the
// links in it: a link can lead to one of another user.
func chainsOf(path string) ([][]Object, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(path) // fails at a loop
	if err != nil {
		return nil, err
	}
	starts := []string{path}
	for len(starts) < maxLinks {
		next, hasLink, err := withoutFirstLink(starts[len(starts)-1])
		if err != nil {
			return nil, err
		}
		if !hasLink {
			break
		}
		starts = append(starts, next)
	}
	var chains [][]Object
	for _, start := range slices.Compact(append(starts, target)) {
		chain, err := chainOf(start)
		if err != nil {
			return nil, err
		}
		chains = append(chains, chain)
	}
	return chains, nil
}

const maxLinks = 40 // as in the kernel of Linux

// withoutFirstLink returns an absolute path with the target in place of the first symbolic link.
func withoutFirstLink(path string) (next string, hasLink bool, err error) {
	above := string(filepath.Separator)
	names := strings.Split(strings.TrimPrefix(path, above), above)
	for i, name := range names {
		full := filepath.Join(above, name)
		info, err := os.Lstat(full)
		if err != nil {
			return "", false, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			above = full
			continue
		}
		target, err := os.Readlink(full)
		if err != nil {
			return "", false, err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(above, target)
		}
		below := filepath.Join(names[i+1:]...)
		return filepath.Join(target, below), true, nil
	}
	return path, false, nil
}

func chainOf(path string) (chain []Object, err error) {
	for {
		var s syscall.Stat_t
		if err := syscall.Lstat(path, &s); err != nil {
			return nil, &os.PathError{Op: "lstat", Path: path, Err: err}
		}
		chain = append(chain, objectOf(path, s))
		parent := filepath.Dir(path)
		if parent == path {
			return chain, nil
		}
		path = parent
	}
}

// objectOf describes a file by its mode and its access control list. The mode contains the list: its
// bits for the group are the most that it allows.
func objectOf(path string, s syscall.Stat_t) Object {
	o := Object{Path: path, Owner: accountOf(s.Uid)}
	kind := s.Mode & syscall.S_IFMT
	if kind == syscall.S_IFLNK {
		o.IsLink = true
		return o // its mode has no meaning
	}
	rights := Write
	if kind == syscall.S_IFDIR && s.Mode&syscall.S_ISVTX == 0 {
		rights |= Replace // otherwise only the owners of files may do that
	}
	if s.Mode&0o020 != 0 {
		writers, hasList := listedWriters(path, s.Gid)
		if !hasList {
			writers = []Account{groupOf(s.Gid)}
		}
		for _, w := range writers {
			o.Grants = append(o.Grants, Grant{w, rights})
		}
	}
	if s.Mode&0o002 != 0 {
		o.Grants = append(o.Grants, Grant{Account{"others", "every user"}, rights})
	}
	return o
}

func groupOf(number uint32) Account {
	text := strconv.FormatUint(uint64(number), 10)
	a := Account{ID: "group " + text, Name: "the group " + text}
	if g, err := user.LookupGroupId(text); err == nil {
		a.Name = "the group " + g.Name
	}
	return a
}

func accountOf(number uint32) Account {
	return Account{ID: UserID(number), Name: "the user " + UserName(number)}
}

// UserName returns the name of a user, or its number if it has no name.
func UserName(number uint32) string {
	text := strconv.FormatUint(uint64(number), 10)
	u, err := user.LookupId(text)
	if err != nil {
		return text
	}
	return u.Username
}
