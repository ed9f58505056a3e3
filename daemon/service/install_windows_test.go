package service

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/bizhook/whd/daemon/access"
)

// TestGrantLogon grants the right to the account of the test, which is an administrator under Wine
// and on CI.
func TestGrantLogon(t *testing.T) {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		t.Fatal(err)
	}
	if err := grantLogon(user.User.Sid); err != nil {
		t.Error(err)
	}
}

// TestAccountID checks that a mistaken name of an account is reported.
func TestAccountID(t *testing.T) {
	id, err := Installation{Account: "SYSTEM"}.accountID()
	if err != nil || id.String() != "S-1-5-18" {
		t.Errorf("SYSTEM has the identifier %v, error %v; want S-1-5-18", id, err)
	}
	id, err = Installation{Account: "LocalSystem"}.accountID()
	if err != nil || id.String() != "S-1-5-18" {
		t.Errorf("LocalSystem has the identifier %v, error %v; want S-1-5-18", id, err)
	}
	id, err = Installation{}.accountID()
	if err != nil || !strings.HasPrefix(id.String(), "S-1-5-80-") {
		t.Errorf("the virtual account has the identifier %v, error %v; want one with S-1-5-80", id, err)
	}
	_, err = Installation{Account: `NONE\missing`}.accountID()
	if err == nil || !strings.Contains(err.Error(), `finding the account NONE\missing`) {
		t.Errorf("got the error %v, want one about the account", err)
	}
}

// TestProgramOfSystem checks that the system does not run a program that others can replace. Everyone
// may change it here.
func TestProgramOfSystem(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whd.exe")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	descriptor, err := windows.SecurityDescriptorFromString("D:P(A;;FA;;;WD)")
	if err != nil {
		t.Fatal(err)
	}
	list, _, err := descriptor.DACL()
	if err != nil {
		t.Fatal(err)
	}
	const parts = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	if err := windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, parts, nil, nil, list, nil); err != nil {
		t.Fatal(err)
	}
	i := Installation{Executable: path}
	if err := i.checkProgram("S-1-5-18"); !errors.Is(err, access.ErrExposed) {
		t.Errorf("for the system: got the error %v, want ErrExposed", err)
	}
	if err := i.checkProgram(identity(Name)); err != nil {
		t.Errorf("for the virtual account: %v", err)
	}
}

// TestLookupName finds an account of this machine, which the service manager calls .\name.
func TestLookupName(t *testing.T) {
	machine, err := windows.ComputerName()
	if err != nil {
		t.Fatal(err)
	}
	for account, want := range map[string]string{
		`.\whd`:           machine + `\whd`,
		`DOMAIN\whd$`:     `DOMAIN\whd$`,
		"whd@example.com": "whd@example.com",
	} {
		if got, err := lookupName(account); got != want || err != nil {
			t.Errorf("%s is looked up as %s, error %v; want %s", account, got, err, want)
		}
	}
}
