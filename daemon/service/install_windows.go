package service

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	manage "github.com/kardianos/service"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"
)

const (
	platform     = "windows-service"
	platformName = "Windows"
	account      = `NT SERVICE\` + Name // a virtual account, which has no password
)

func (i Installation) options() manage.KeyValue {
	return manage.KeyValue{"DelayedAutoStart": true}
}

// allow returns an error unless the user is an administrator, who has all rights at the
// service manager.
func (i Installation) allow() error {
	m, err := mgr.Connect()
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return errors.New("installing a service requires administrator rights:" +
			" run it in a terminal opened as administrator")
	}
	if err != nil {
		return err
	}
	return m.Disconnect()
}

func (i Installation) install(s manage.Service, out io.Writer) error {
	if err := s.Install(); err != nil {
		return err
	}
	err := restartOnFailure()
	if errors.Is(err, windows.ERROR_INVALID_LEVEL) {
		fmt.Fprintln(out, "this system does not restart failed services; monitor the service")
		err = nil
	}
	err = errors.Join(err, i.makeSettings())
	if err != nil {
		return errors.Join(err, s.Uninstall())
	}
	fmt.Fprintf(out, "settings in %s\n", i.Config)
	fmt.Fprintf(out, "service installed with the account %s; start it with: %s service start\n",
		account, Name)
	return nil
}

// restarts are the actions of Windows after the first, the second and every further
// failure within a day.
var restarts = []mgr.RecoveryAction{
	{Type: mgr.ServiceRestart, Delay: 5 * time.Second},
	{Type: mgr.ServiceRestart, Delay: 30 * time.Second},
	{Type: mgr.ServiceRestart, Delay: time.Minute},
}

const day = 24 * 60 * 60 // in seconds

func restartOnFailure() error {
	return withService(func(s *mgr.Service) error {
		return errors.Join(
			s.SetRecoveryActions(restarts, day),
			s.SetRecoveryActionsOnNonCrashFailures(true))
	})
}

// makeSettings writes the settings file unless it exists. Its directory, which also
// contains the data, is accessible to the service, the system and administrators only.
func (i Installation) makeSettings() error {
	dir := filepath.Dir(i.Config)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := closeToOthers(dir); err != nil {
		return fmt.Errorf("setting the permissions of %s: %w", dir, err)
	}
	if _, err := os.Stat(i.Config); err == nil {
		return nil
	}
	return os.WriteFile(i.Config, i.Settings, 0o600)
}

// closeToOthers restricts a directory and its future contents to the system (SY),
// administrators (BA) and the service, which may not change the permissions.
func closeToOthers(dir string) error {
	const (
		full   = "FA"
		modify = "0x1301bf"
	)
	rights, err := windows.SecurityDescriptorFromString("D:P" +
		"(A;OICI;" + full + ";;;SY)" +
		"(A;OICI;" + full + ";;;BA)" +
		"(A;OICI;" + modify + ";;;" + identity(Name) + ")")
	if err != nil {
		return err
	}
	list, _, err := rights.DACL()
	if err != nil {
		return err
	}
	const parts = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	return windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, parts, nil, nil, list, nil)
}

func failed() bool { return false }

// SendReload requests the service to reload its settings.
func SendReload() error {
	return withService(func(s *mgr.Service) error {
		_, err := s.Control(svc.ParamChange)
		return err
	})
}

func withService(work func(*mgr.Service) error) error {
	m, err := mgr.Connect()
	if err != nil {
		return err
	}
	defer m.Disconnect()
	s, err := m.OpenService(Name)
	if err != nil {
		return err
	}
	defer s.Close()
	return work(s)
}
