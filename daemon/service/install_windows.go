package service

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	manage "github.com/kardianos/service"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/svc"
	"golang.org/x/sys/windows/svc/mgr"

	"github.com/bizhook/whd/daemon/access"
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
	id, err := i.accountID()
	if err != nil {
		return err
	}
	if err := i.checkProgram(id.String()); err != nil {
		return err
	}
	if i.Account != "" {
		if err := grantLogon(id); err != nil {
			return err
		}
	}
	if err := s.Install(); err != nil {
		return err
	}
	err = restartOnFailure()
	if errors.Is(err, windows.ERROR_INVALID_LEVEL) {
		fmt.Fprintln(out, "this system does not restart failed services; monitor the service")
		err = nil
	}
	err = errors.Join(err, i.makeSettings(id, out))
	if i.Firewall {
		err = errors.Join(err, i.openFirewall())
	}
	if err != nil {
		return errors.Join(err, s.Uninstall(), i.removeNewSettings())
	}
	fmt.Fprintf(out, "service installed with the account %s; start it with: %s service start\n",
		cmp.Or(i.Account, account), Name)
	return nil
}

// checkProgram returns an error if the service has all rights, and others can replace its program. For
// an account with fewer rights, makeSettings warns.
func (i Installation) checkProgram(account string) error {
	const system = "S-1-5-18"
	if account != system {
		return nil
	}
	if err := CheckProgram(i.Executable); errors.Is(err, access.ErrExposed) {
		return err
	}
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

// makeSettings writes the settings file unless it exists. The service may only read it, since
// commands of administrators read it, too.
func (i Installation) makeSettings(id *windows.SID, out io.Writer) error {
	accounts := []string{id.String(), identity(Name)} // the second one may own data of an earlier service
	_, err := os.Lstat(i.Config)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err := i.makeDirs(isNew, accounts); err != nil {
		return explained(err, installRemedy)
	}
	if isNew {
		err = writeNew(i.Config, i.Settings)
	} else {
		fmt.Fprintf(out, "%s exists and is kept\n", i.Config)
	}
	if err := errors.Join(err, access.MakePrivateFile(i.Config, accounts...)); err != nil {
		return explained(err, installRemedy)
	}
	if isNew {
		fmt.Fprintf(out, "settings in %s\n", i.Config)
	}
	if err := CheckProgram(i.Executable); err != nil {
		fmt.Fprintf(out, "warning: %v\n", err)
	}
	return nil
}

// makeDirs makes the directory of the settings file and that of the data accessible to the service,
// the system and administrators only. An existing directory with another name than the service's may
// be used by others, so it stays as it is.
func (i Installation) makeDirs(isNew bool, accounts []string) error {
	dir := filepath.Dir(i.Config)
	_, err := os.Lstat(dir)
	isDedicated := errors.Is(err, fs.ErrNotExist) || strings.EqualFold(filepath.Base(dir), Name)
	if isDedicated {
		err = access.MakePrivateDir(dir, accounts...)
	} else {
		err = access.CheckDir(dir, accounts...)
	}
	if err != nil {
		return err
	}
	if isNew && i.DataDir != "" && !strings.EqualFold(i.DataDir, dir) {
		return access.MakePrivateDir(i.DataDir, accounts...)
	}
	return nil
}

const installRemedy = "others could control the service with files there: rename the directory, repeat the" +
	" installation, and copy the files that you trust into the new directory"

// writeNew writes a file that must not exist.
func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// accountID returns the security identifier of the service's account.
func (i Installation) accountID() (*windows.SID, error) {
	if i.Account == "" {
		return windows.StringToSid(identity(Name))
	}
	name, err := lookupName(i.Account)
	if err != nil {
		return nil, err
	}
	id, _, _, err := windows.LookupSID("", name)
	if err != nil {
		return nil, fmt.Errorf("finding the account %s: %w", i.Account, err)
	}
	return id, nil
}

// lookupName returns the name under which Windows finds an account that has another name at the
// service manager: that of the system, and those of this machine.
func lookupName(account string) (string, error) {
	if strings.EqualFold(account, "LocalSystem") {
		return "SYSTEM", nil
	}
	user, isLocal := strings.CutPrefix(account, `.\`)
	if !isLocal {
		return account, nil
	}
	machine, err := windows.ComputerName()
	if err != nil {
		return "", fmt.Errorf("finding the account %s: %w", account, err)
	}
	return machine + `\` + user, nil
}

// openFirewall adds a rule that lets other machines connect to the program, on any port that
// its settings name.
func (i Installation) openFirewall() error {
	if err := closeFirewall(); err != nil {
		return err
	}
	return firewall("add", "rule", "name="+Name, "dir=in", "action=allow", "protocol=TCP",
		"program="+i.Executable, "profile=domain,private")
}

// closeFirewall deletes the rule of openFirewall, if there is one.
func closeFirewall() error {
	if firewall("show", "rule", "name="+Name) != nil {
		return nil // there is none
	}
	return firewall("delete", "rule", "name="+Name)
}

func firewall(args ...string) error {
	args = append([]string{"advfirewall", "firewall"}, args...)
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return err
	}
	// PATH may begin with directories of others.
	text, err := exec.Command(filepath.Join(system, "netsh.exe"), args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("changing the firewall: netsh %q: %w: %s", args, err, text)
	}
	return nil
}

// startLimit bounds the wait for a service that starts. Large stores take minutes to migrate.
const startLimit = 5 * time.Minute

// awaitStart waits until the service runs. It fails if the service stops instead.
func awaitStart() error {
	return withService(func(s *mgr.Service) error {
		deadline := time.Now().Add(startLimit)
		for time.Now().Before(deadline) {
			status, err := s.Query()
			if err != nil {
				return err
			}
			switch status.State {
			case svc.Running:
				return nil
			case svc.Stopped:
				code := status.Win32ExitCode
				if code == uint32(windows.ERROR_SERVICE_SPECIFIC_ERROR) {
					code = status.ServiceSpecificExitCode
				}
				return fmt.Errorf("the service has stopped with exit code %d; the event log"+
					" has the reason: Get-WinEvent -ProviderName %s -MaxEvents 5", code, Name)
			}
			time.Sleep(100 * time.Millisecond)
		}
		return fmt.Errorf("the service is not running after %v, but may still start", startLimit)
	})
}

func failed() bool { return false }

// stopLimit bounds the attempts to stop a service that is starting, like startLimit.
const stopLimit = startLimit

// stop stops the service. Windows rejects the request while the service is starting.
func stop(s manage.Service) error {
	return stopPatiently(s.Stop, stopOutcome, 200*time.Millisecond, stopLimit)
}

func stopOutcome(err error) outcome {
	if errors.Is(err, windows.ERROR_SERVICE_CANNOT_ACCEPT_CTRL) {
		return busy
	}
	if errors.Is(err, windows.ERROR_SERVICE_NOT_ACTIVE) {
		return ended
	}
	return failure
}

func restart(s manage.Service) error {
	if err := stop(s); err != nil {
		return err
	}
	return s.Start()
}

// Settings returns the path of the settings file on the command line of the installed service.
func Settings() (path string, err error) {
	err = withService(func(s *mgr.Service) error {
		line, _, err := registered(s)
		if err != nil {
			return err
		}
		arguments, err := windows.DecomposeCommandLine(line)
		if err != nil {
			return fmt.Errorf("the command line of the service, %s: %w", line, err)
		}
		path = settingsOf(arguments)
		return nil
	})
	if errors.Is(err, windows.ERROR_SERVICE_DOES_NOT_EXIST) {
		return "", nil
	}
	return path, err
}

// registered returns the command line and the account of a service. Config of package mgr also reads
// levels that Wine does not have.
func registered(s *mgr.Service) (line, account string, err error) {
	size := uint32(1024)
	for {
		buffer := make([]byte, size)
		conf := (*windows.QUERY_SERVICE_CONFIG)(unsafe.Pointer(&buffer[0]))
		err := windows.QueryServiceConfig(s.Handle, conf, size, &size)
		if errors.Is(err, windows.ERROR_INSUFFICIENT_BUFFER) && size > uint32(len(buffer)) {
			continue
		}
		if err != nil {
			return "", "", fmt.Errorf("reading the configuration of the service: %w", err)
		}
		line = windows.UTF16PtrToString(conf.BinaryPathName)
		return line, windows.UTF16PtrToString(conf.ServiceStartName), nil
	}
}

// AccountIDs returns the identifiers of the service's account, and of that which a service has by
// default, for package access.
func AccountIDs() []string {
	ids := []string{identity(Name)}
	_ = withService(func(s *mgr.Service) error { // without a service, there is no other account
		_, name, err := registered(s)
		if err != nil || name == "" || strings.EqualFold(name, account) {
			return err
		}
		id, err := Installation{Account: name}.accountID()
		if err == nil {
			ids = append(ids, id.String())
		}
		return err
	})
	return ids
}

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
