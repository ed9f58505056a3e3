package service

import (
	"strings"
	"testing"

	"golang.org/x/sys/windows"
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
