package access

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Privileged reports whether this process has the rights of an administrator, so that the settings
// that it reads must not be those of others.
func Privileged() bool {
	group, err := windows.CreateWellKnownSid(windows.WinBuiltinAdministratorsSid)
	if err != nil {
		return false
	}
	// Without elevation, the group counts only in entries that deny something.
	isMember, err := windows.Token(0).IsMember(group)
	return err == nil && isMember
}

// trusting returns the trust in administrators, in the user of this process and in the accounts.
func trusting(accounts []string) (trust, error) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return nil, err
	}
	trusted := append([]string{user.User.Sid.String()}, accounts...)
	return func(id string) bool { return isAdministrator(id) || slices.Contains(trusted, id) }, nil
}

// chainsOf returns a file and the directories above it, and the same for the target of junctions
// and links in the path.
func chainsOf(path string) ([][]Object, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	target, err := finalPath(path)
	if err != nil {
		return nil, err
	}
	starts := []string{path}
	if !strings.EqualFold(path, target) {
		starts = append(starts, target)
	}
	var chains [][]Object
	for _, start := range starts {
		chain, err := chainOf(start)
		if err != nil {
			return nil, err
		}
		chains = append(chains, chain)
	}
	return chains, nil
}

func chainOf(path string) (chain []Object, err error) {
	for {
		o, err := objectAt(path)
		if err != nil {
			return nil, err
		}
		chain = append(chain, o)
		parent := filepath.Dir(path)
		if parent == path {
			return chain, nil
		}
		path = parent
	}
}

// finalPath returns the path without junctions and links.
func finalPath(path string) (string, error) {
	handle, err := open(path, windows.FILE_READ_ATTRIBUTES, windows.FILE_FLAG_BACKUP_SEMANTICS)
	if err != nil {
		return "", err
	}
	defer windows.CloseHandle(handle)
	text := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetFinalPathNameByHandle(handle, &text[0], uint32(len(text)), 0)
	if err != nil {
		return "", &os.PathError{Op: "resolve", Path: path, Err: err}
	}
	final := windows.UTF16ToString(text[:n])
	if share, isShare := strings.CutPrefix(final, `\\?\UNC\`); isShare {
		return `\\` + share, nil
	}
	return strings.TrimPrefix(final, `\\?\`), nil
}

// unfollowed are the flags that open directories, and junctions and links themselves.
const unfollowed = windows.FILE_FLAG_BACKUP_SEMANTICS | windows.FILE_FLAG_OPEN_REPARSE_POINT

// open opens a file or directory. While it is open, it can be neither renamed nor deleted.
func open(path string, rights, flags uint32) (windows.Handle, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return 0, err
	}
	const sharing = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE
	handle, err := windows.CreateFile(name, rights, sharing, nil, windows.OPEN_EXISTING, flags, 0)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return handle, nil
}

func objectAt(path string) (Object, error) {
	const rights = windows.READ_CONTROL | windows.FILE_READ_ATTRIBUTES
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return Object{}, err
	}
	// The store of a running service may be renamed or deleted at the same time.
	const sharing = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	handle, err := windows.CreateFile(name, rights, sharing, nil, windows.OPEN_EXISTING, unfollowed, 0)
	if err != nil {
		return Object{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer windows.CloseHandle(handle)
	return describe(path, handle)
}

// describe reads the permissions of an open file or directory.
func describe(path string, handle windows.Handle) (Object, error) {
	o := Object{Path: path}
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(handle, &info); err != nil {
		return o, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	isDir := info.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY != 0
	isReparsePoint := info.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0
	o.IsLink = isReparsePoint || !isDir && info.NumberOfLinks > 1
	const parts = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION
	descriptor, err := windows.GetSecurityInfo(handle, windows.SE_FILE_OBJECT, parts)
	if err != nil {
		return o, &os.PathError{Op: "reading the permissions of", Path: path, Err: err}
	}
	owner, _, err := descriptor.Owner()
	if err != nil {
		return o, &os.PathError{Op: "reading the owner of", Path: path, Err: err}
	}
	o.Owner = Account{owner.String(), nameOf(owner.String())}
	list, _, err := descriptor.DACL()
	if err != nil && !errors.Is(err, windows.ERROR_OBJECT_NOT_FOUND) {
		return o, &os.PathError{Op: "reading the permissions of", Path: path, Err: err}
	}
	entries, err := entriesOf(list)
	if err != nil {
		return o, &os.PathError{Op: "reading the permissions of", Path: path, Err: err}
	}
	o.Grants = grantsOf(entries, list != nil, nameOf)
	return o, nil
}

func entriesOf(list *windows.ACL) (entries []entry, err error) {
	if list == nil {
		return nil, nil
	}
	for i := range uint32(list.AceCount) {
		var ace *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &ace); err != nil {
			return nil, err
		}
		e := entry{Kind: ace.Header.AceType, Flags: ace.Header.AceFlags, Mask: uint32(ace.Mask)}
		if e.Kind == allowed || e.Kind == allowedIf { // others have another form
			e.ID = (*windows.SID)(unsafe.Pointer(&ace.SidStart)).String()
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// nameOf returns the name of an account, or an empty one if it has none any more.
func nameOf(id string) string {
	sid, err := windows.StringToSid(id)
	if err != nil {
		return ""
	}
	name, domain, _, err := sid.LookupAccount("")
	if err != nil {
		return ""
	}
	if domain == "" {
		return name
	}
	return domain + `\` + name
}
