package access

import (
	"slices"
	"strings"
)

// entry is an entry of an access control list of Windows.
type entry struct {
	Kind  byte // one of those below, or another
	Flags byte
	Mask  uint32
	ID    string // security identifier of the account
}

// Kinds and flags of entries.
const (
	allowed        = 0
	allowedIf      = 9 // under a condition, which counts as met
	denied         = 1
	deniedObject   = 6
	deniedIf       = 10
	deniedObjectIf = 12
	inheritOnly    = 0x08
)

// Bits of masks.
const (
	writeData    = 0x2 // of a directory: add files
	appendData   = 0x4 // of a directory: add directories
	deleteChild  = 0x40
	deleteItself = 0x10000
	writeList    = 0x40000
	writeOwner   = 0x80000
	maximum      = 0x2000000
	genericAll   = 0x10000000
	genericWrite = 0x40000000
)

// rightsOf returns the rights in a mask.
func rightsOf(mask uint32) (rights Right) {
	const everything = maximum | genericAll
	if mask&(writeData|appendData|genericWrite|everything) != 0 {
		rights |= Write
	}
	if mask&(deleteChild|deleteItself|everything) != 0 {
		rights |= Replace
	}
	if mask&(writeList|writeOwner|everything) != 0 {
		rights |= Control
	}
	return rights
}

// unreadable is the account of entries in a form that files do not have usually, such as those for
// objects of a directory service: Windows accepts them, so they must not hide an account.
var unreadable = Account{ID: "unreadable", Name: "an account in an unusual entry of the permissions"}

// grantsOf returns the rights that a list allows on the object itself. Entries that deny are ignored:
// they only reduce rights. Without a list, everyone may do everything.
func grantsOf(entries []entry, hasList bool, name func(id string) string) (grants []Grant) {
	if !hasList {
		return []Grant{{Account{everyone, name(everyone)}, anyChange}}
	}
	for _, e := range entries {
		rights := rightsOf(e.Mask)
		if rights == 0 || e.Flags&inheritOnly != 0 {
			continue
		}
		switch e.Kind {
		case denied, deniedObject, deniedIf, deniedObjectIf:
		case allowed, allowedIf:
			grants = append(grants, Grant{Account{e.ID, name(e.ID)}, rights})
		default:
			grants = append(grants, Grant{unreadable, rights})
		}
	}
	return grants
}

// Security identifiers.
const (
	everyone       = "S-1-1-0"
	localSystem    = "S-1-5-18"
	administrators = "S-1-5-32-544"
)

// privileged lists the accounts that have all rights on a machine anyway, and two that mean the
// owner of an object, which is checked by itself. Server operators, of domain controllers, can change
// the programs of services, and backup operators can overwrite any file.
var privileged = []string{
	localSystem,
	administrators,
	"S-1-5-32-549", // server operators
	"S-1-5-32-551", // backup operators
	"S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464", // TrustedInstaller
	"S-1-3-0", // creator owner
	"S-1-3-4", // owner rights
}

// privilegedEnds are the ends of identifiers of administrators on each machine or in each domain: the
// administrator, domain admins and enterprise admins.
var privilegedEnds = []string{"-500", "-512", "-519"}

// isAdministrator reports whether an account or group of Windows has the rights of administrators.
func isAdministrator(id string) bool {
	isOfDomain := strings.HasPrefix(id, "S-1-5-21-")
	hasEnd := func(end string) bool { return strings.HasSuffix(id, end) }
	return slices.Contains(privileged, id) || isOfDomain && slices.ContainsFunc(privilegedEnds, hasEnd)
}
