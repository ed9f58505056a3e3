package access

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Entries of access control lists in the language of security descriptors: full rights for the
// system (SY) and administrators (BA), inherited by files and directories (OICI).
const (
	privateFile = "D:P(A;;FA;;;SY)(A;;FA;;;BA)"
	privateDir  = "D:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
)

// dirFor is the list of a directory in which an account may change everything but permissions. It
// may not rename or delete the directory itself, and so put another in its place.
func dirFor(account string) string {
	const (
		modify = "0x1301bf"
		change = "0x1201bf" // modify without the right to delete
	)
	return privateDir + "(A;;" + change + ";;;" + account + ")(A;OICIIO;" + modify + ";;;" + account + ")"
}

// MakePrivateDir creates a directory that only the system, administrators and an account can
// access, or restricts an existing one. An existing one must be a directory, not a link, and it and
// its content must belong to administrators, to the user of this process or to the listed accounts,
// the first of which gets access. Otherwise others may have put files there: the error wraps
// ErrExposed.
func MakePrivateDir(dir string, accounts ...string) error {
	list := dirFor(accounts[0])
	if err := makeDirs(dir, list); err != nil {
		return err
	}
	isTrusted, err := trusting(accounts)
	if err != nil {
		return err
	}
	const rights = windows.READ_CONTROL | windows.WRITE_DAC | windows.WRITE_OWNER |
		windows.FILE_READ_ATTRIBUTES | windows.FILE_LIST_DIRECTORY
	handle, err := open(dir, rights, unfollowed)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(handle) // until then, no other directory can take its place

	o, err := describe(dir, handle)
	if err != nil {
		return err
	}
	if o.IsLink {
		return exposed{dir + " is a link to another directory"}
	}
	if err := o.check(0, isTrusted); err != nil {
		return err
	}
	chains, err := chainsOf(dir)
	if err != nil {
		return err
	}
	for _, chain := range chains {
		if err := checkChain(chain[1:], isTrusted); err != nil {
			return err
		}
	}

	// The second time finds files that others have added before the directory was restricted, and the
	// third time those in directories below.
	if err := checkContent(dir, isTrusted); err != nil {
		return err
	}
	if err := restrict(handle, list); err != nil {
		return fmt.Errorf("setting the permissions of %s: %w", dir, err)
	}
	if err := checkContent(dir, isTrusted); err != nil {
		return err
	}
	// By the name, Windows also changes the permissions that the content has inherited.
	if err := restrictNamed(dir, list); err != nil {
		return fmt.Errorf("setting the permissions of %s: %w", dir, err)
	}
	return checkContent(dir, isTrusted)
}

// MakePrivateFile restricts a file to the system, administrators, and an account that may only
// read it. An existing file must belong to the same accounts as a directory of MakePrivateDir.
func MakePrivateFile(path string, accounts ...string) error {
	isTrusted, err := trusting(accounts)
	if err != nil {
		return err
	}
	const rights = windows.READ_CONTROL | windows.WRITE_DAC | windows.WRITE_OWNER | windows.FILE_READ_ATTRIBUTES
	handle, err := open(path, rights, unfollowed)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(handle)
	o, err := describe(path, handle)
	if err != nil {
		return err
	}
	if o.IsLink {
		return exposed{path + " is a link to another file"}
	}
	if err := o.check(anyChange, isTrusted); err != nil {
		return err
	}
	if err := restrict(handle, privateFile+"(A;;FR;;;"+accounts[0]+")"); err != nil {
		return fmt.Errorf("setting the permissions of %s: %w", path, err)
	}
	return nil
}

// makeDirs creates a directory and the missing ones above it. Those above are for administrators.
func makeDirs(dir, list string) error {
	err := makeDir(dir, list)
	if errors.Is(err, windows.ERROR_PATH_NOT_FOUND) && filepath.Dir(dir) != dir {
		if err := makeDirs(filepath.Dir(dir), privateDir); err != nil {
			return err
		}
		err = makeDir(dir, list)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// makeDir creates a directory with its permissions, so that it is never open to others.
func makeDir(dir, list string) error {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	descriptor, err := windows.SecurityDescriptorFromString("O:BA" + list)
	if err != nil {
		return err
	}
	attributes := windows.SecurityAttributes{SecurityDescriptor: descriptor}
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	if err := windows.CreateDirectory(name, &attributes); err != nil {
		return &os.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	return nil
}

// checkContent returns an error for a file that others own or can change, and for a link of others
// than administrators and this process: setting permissions could follow it. In directories, others
// may add files, since these are checked, too.
func checkContent(dir string, isTrusted trust) error {
	isNarrowlyTrusted, err := trusting(nil)
	if err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, item fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		o, err := objectAt(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted after it was listed
		}
		if err != nil {
			return err
		}
		if o.IsLink {
			return o.check(0, isNarrowlyTrusted)
		}
		if item.IsDir() {
			return o.check(exchange, isTrusted)
		}
		return o.check(anyChange, isTrusted)
	})
}

// parts are those of a security descriptor that are set.
const parts = windows.OWNER_SECURITY_INFORMATION | windows.DACL_SECURITY_INFORMATION |
	windows.PROTECTED_DACL_SECURITY_INFORMATION

// ownerAndList returns the owner, administrators, and a list.
func ownerAndList(list string) (*windows.SID, *windows.ACL, error) {
	descriptor, err := windows.SecurityDescriptorFromString("O:BA" + list)
	if err != nil {
		return nil, nil, err
	}
	owner, _, err := descriptor.Owner()
	if err != nil {
		return nil, nil, err
	}
	acl, _, err := descriptor.DACL()
	return owner, acl, err
}

// restrict sets the owner and the list of an open file or directory.
func restrict(handle windows.Handle, list string) error {
	owner, acl, err := ownerAndList(list)
	if err != nil {
		return err
	}
	return windows.SetSecurityInfo(handle, windows.SE_FILE_OBJECT, parts, owner, nil, acl, nil)
}

// restrictNamed is restrict for a path.
func restrictNamed(path, list string) error {
	owner, acl, err := ownerAndList(list)
	if err != nil {
		return err
	}
	return windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, parts, owner, nil, acl, nil)
}
