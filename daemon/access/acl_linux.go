package access

import (
	"encoding/binary"
	"syscall"
)

// Tags of entries in an access control list of POSIX.
const (
	aclUser       = 0x02
	aclOwnerGroup = 0x04
	aclGroup      = 0x08
)

const (
	aclHeader = 4 // bytes, with the version
	aclEntry  = 8 // bytes: a tag and rights of 16 bits, and a number
	aclWrite  = 2
	aclLimit  = 64 << 10 // of the kernel for all attributes
)

// listedWriters returns the accounts to which the access control list of a file allows to write, as
// far as the mode allows that. It returns false if the file has no list. The list replaces the
// group's bits of the mode, which are the most that it allows.
func listedWriters(path string, group uint32) ([]Account, bool) {
	buffer := make([]byte, aclLimit)
	n, err := syscall.Getxattr(path, "system.posix_acl_access", buffer)
	if err != nil || n < aclHeader {
		return nil, false // the file or the file system has none
	}
	return writersIn(buffer[aclHeader:n], group), true
}

// writersIn returns the users and groups that the entries of a list allow to write.
func writersIn(entries []byte, group uint32) (writers []Account) {
	for ; len(entries) >= aclEntry; entries = entries[aclEntry:] {
		tag := binary.LittleEndian.Uint16(entries)
		rights := binary.LittleEndian.Uint16(entries[2:])
		number := binary.LittleEndian.Uint32(entries[4:])
		if rights&aclWrite == 0 {
			continue
		}
		switch tag {
		case aclUser:
			writers = append(writers, accountOf(number))
		case aclGroup:
			writers = append(writers, groupOf(number))
		case aclOwnerGroup:
			writers = append(writers, groupOf(group))
		}
	}
	return writers
}
