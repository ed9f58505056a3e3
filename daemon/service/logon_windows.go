package service

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Functions of the security policy, which package windows does not have.
var (
	advapi           = windows.NewLazySystemDLL("advapi32.dll")
	lsaOpenPolicy    = advapi.NewProc("LsaOpenPolicy")
	lsaAddRights     = advapi.NewProc("LsaAddAccountRights")
	lsaClose         = advapi.NewProc("LsaClose")
	lsaErrorOfStatus = advapi.NewProc("LsaNtStatusToWinError")
)

// grantLogon lets an account log on as a service, as the tools of Windows do with an account that
// is entered there. An account that has it already keeps it.
func grantLogon(account *windows.SID) error {
	const (
		createAccount = 0x10
		lookupNames   = 0x800
	)
	var attributes windows.OBJECT_ATTRIBUTES
	attributes.Length = uint32(unsafe.Sizeof(attributes))
	var policy windows.Handle
	status, _, _ := lsaOpenPolicy.Call(0, uintptr(unsafe.Pointer(&attributes)), createAccount|lookupNames,
		uintptr(unsafe.Pointer(&policy)))
	if err := lsaError(status); err != nil {
		return fmt.Errorf("opening the security policy: %w", err)
	}
	defer lsaClose.Call(uintptr(policy))

	right, err := windows.NewNTUnicodeString("SeServiceLogonRight")
	if err != nil {
		return err
	}
	status, _, _ = lsaAddRights.Call(uintptr(policy), uintptr(unsafe.Pointer(account)),
		uintptr(unsafe.Pointer(right)), 1)
	if err := lsaError(status); err != nil {
		return fmt.Errorf("granting the account %v the right to log on as a service: %w", account, err)
	}
	return nil
}

// lsaError returns the error for a status, or nil for success.
func lsaError(status uintptr) error {
	if status == 0 {
		return nil
	}
	code, _, _ := lsaErrorOfStatus.Call(status)
	return windows.Errno(code)
}
