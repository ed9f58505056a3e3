package access

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// Identifiers of the tests.
const (
	users         = "S-1-5-32-545"
	authenticated = "S-1-5-11"
	creatorOwner  = "S-1-3-0"
	ann           = "S-1-5-21-1-2-3-1001" // runs the process
	eve           = "S-1-5-21-1-2-3-1002"
	domainAdmins  = "S-1-5-21-1-2-3-512"
	service       = "S-1-5-80-1-2-3-4-5"
)

// Masks as Windows shows them.
const (
	full          = 0x1f01ff
	modify        = 0x1301bf
	readExecute   = 0x1200a9
	addFiles      = 0x2 | 0x4 | 0x10 | 0x100
	readAndDelete = readExecute | deleteItself
)

// Flags of entries.
const (
	inherited     = 0x10
	toAll         = 0x01 | 0x02 // to files and directories
	toDirectories = 0x02
)

// Lists of directories of Windows.
var (
	programData = []entry{
		{allowed, toAll, full, localSystem},
		{allowed, toAll, full, administrators},
		{allowed, toAll | inheritOnly, genericAll, creatorOwner},
		{allowed, toAll, readExecute, users},
		{allowed, toDirectories, addFiles, users},
	}
	// A directory that a user has made in C:\ProgramData.
	inProgramData = []entry{
		{allowed, toAll | inherited, full, localSystem},
		{allowed, toAll | inherited, full, administrators},
		{allowed, inherited, full, eve},
		{allowed, toAll | inheritOnly | inherited, genericAll, creatorOwner},
		{allowed, toAll | inherited, readExecute, users},
		{allowed, toDirectories | inherited, addFiles, users},
	}
	systemDrive = []entry{
		{allowed, toAll, full, administrators},
		{allowed, toAll, full, localSystem},
		{allowed, toAll, readExecute, users},
		{allowed, toAll | inheritOnly, 0xe0010000, authenticated},
		{allowed, 0, appendData, authenticated},
	}
	// A directory that an administrator has made in C:\.
	inSystemDrive = []entry{
		{allowed, toAll | inherited, full, administrators},
		{allowed, toAll | inherited, full, localSystem},
		{allowed, toAll | inherited, readExecute, users},
		{allowed, inherited, modify, authenticated},
		{allowed, toAll | inheritOnly | inherited, 0xe0010000, authenticated},
	}
	private = []entry{
		{allowed, toAll, full, localSystem},
		{allowed, toAll, full, administrators},
		{allowed, toAll, modify, service},
	}
)

// TestLists decides by the owner and the list of a directory of Windows whether others may change it,
// or may at least put another directory in its place.
func TestLists(t *testing.T) {
	isTrusted := func(id string) bool { return isAdministrator(id) || slices.Contains([]string{ann, service}, id) }
	noName := func(string) string { return "" }
	for _, test := range []struct {
		name         string
		owner        string
		entries      []entry
		withoutList  bool
		change, swap string // parts of the errors; empty for none
	}{
		{"private", administrators, private, false, "", ""},
		{"private, of the system", localSystem, private, false, "", ""},
		{"private, of this process", ann, private, false, "", ""},
		{"private, but of another user", eve, private, false, "belongs to " + eve, "belongs to " + eve},
		{"private, of the group of all users", users, private, false, "belongs to", "belongs to"},
		{"ProgramData", localSystem, programData, false, users + " may change", ""},
		{"made in ProgramData by another user", eve, inProgramData, false, "belongs to " + eve, "belongs to"},
		{"made by another user, then given away", administrators, inProgramData, false,
			eve + " may change", eve + " may change"},
		{"system drive", administrators, systemDrive, false, authenticated + " may change", ""},
		{"made in the system drive", administrators, inSystemDrive, false,
			authenticated + " may change", authenticated + " may change"},
		{"without a list", administrators, nil, true, everyone + " may change", everyone + " may change"},
		{"with an empty list", administrators, nil, false, "", ""},
		{"others may read", administrators, []entry{{allowed, 0, readExecute, users}}, false, "", ""},
		{"others may delete", administrators, []entry{{allowed, 0, readAndDelete, users}}, false, users, users},
		{"others may delete the content", administrators,
			[]entry{{allowed, 0, deleteChild, users}}, false, users, users},
		{"others may change the list", administrators, []entry{{allowed, 0, writeList, eve}}, false, eve, eve},
		{"others may change the owner", administrators, []entry{{allowed, 0, writeOwner, eve}}, false, eve, eve},
		{"others may write", administrators, []entry{{allowed, 0, genericWrite, eve}}, false, eve, ""},
		{"others may do everything", administrators, []entry{{allowed, 0, genericAll, eve}}, false, eve, eve},
		{"others, under a condition", administrators, []entry{{allowedIf, 0, full, eve}}, false, eve, eve},
		{"others may not", administrators, []entry{{denied, 0, full, users}, {deniedIf, 0, full, users},
			{deniedObject, 0, full, ""}, {deniedObjectIf, 0, full, ""}}, false, "", ""},
		{"an entry for objects", administrators, []entry{{5, 0, full, ""}}, false, "unusual", "unusual"},
		{"an entry for objects, to read", administrators, []entry{{5, 0, readExecute, ""}}, false, "", ""},
		{"an entry for objects under a condition", administrators,
			[]entry{{11, 0, full, ""}}, false, "unusual", "unusual"},
		{"operators of a domain controller", administrators,
			[]entry{{allowed, 0, modify, "S-1-5-32-549"}}, false, "", ""},
		{"only new files", administrators,
			[]entry{{allowed, toAll | inheritOnly, full, users}}, false, "", ""},
		{"domain administrators", domainAdmins, []entry{{allowed, 0, full, domainAdmins}}, false, "", ""},
		{"the owner's rights", administrators, []entry{{allowed, 0, full, "S-1-3-4"}}, false, "", ""},
	} {
		o := Object{
			Path:   `C:\whd`,
			Owner:  Account{ID: test.owner},
			Grants: grantsOf(test.entries, !test.withoutList, noName),
		}
		wantExposed(t, test.name+", change", o.check(anyChange, isTrusted), test.change)
		wantExposed(t, test.name+", exchange", o.check(exchange, isTrusted), test.swap)
	}
}

// wantExposed expects ErrExposed with a text, or no error if the text is empty.
func wantExposed(t *testing.T, name string, err error, want string) {
	t.Helper()
	if want == "" && err != nil {
		t.Errorf("%s: got the error %v, want none", name, err)
	}
	if want != "" && (!errors.Is(err, ErrExposed) || !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: got the error %v, want ErrExposed with %q", name, err, want)
	}
}

// TestAdministrators checks that the end of an identifier counts only in those of domains.
func TestAdministrators(t *testing.T) {
	for id, want := range map[string]bool{
		localSystem:            true,
		administrators:         true,
		"S-1-5-21-1-2-3-500":   true,
		"S-1-5-21-1-2-3-513":   false, // domain users
		"S-1-5-21-1-2-3-1500":  false,
		"S-1-5-80-1-2-3-4-500": false, // a service
		everyone:               false,
		"S-1-5-7":              false, // anonymous
		"S-1-5-19":             false, // local service
		"":                     false,
		"S-1-5-32-544-":        false,
	} {
		if got := isAdministrator(id); got != want {
			t.Errorf("%q is an administrator: %v, want %v", id, got, want)
		}
	}
}

// TestChain checks that others may add files above the directory of a file, but not in it.
func TestChain(t *testing.T) {
	isTrusted := func(id string) bool { return id == "root" }
	object := func(owner string, rights Right) Object {
		return Object{Owner: Account{ID: owner}, Grants: []Grant{{Account{ID: "users"}, rights}}}
	}
	safe := object("root", 0)
	for _, test := range []struct {
		name  string
		chain []Object
		want  string
	}{
		{"safe", []Object{safe, safe, safe}, ""},
		{"the file", []Object{object("root", Write), safe, safe}, "users may change"},
		{"the directory", []Object{safe, object("root", Write), safe}, "users may change"},
		{"above it: add", []Object{safe, safe, object("root", Write)}, ""},
		{"above it: exchange", []Object{safe, safe, object("root", Replace)}, "users may change"},
		{"the top: owner", []Object{safe, safe, safe, object("users", 0)}, "belongs to users"},
	} {
		wantExposed(t, test.name, checkChain(test.chain, isTrusted, anyChange, anyChange), test.want)
	}
}
