package service

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	manage "github.com/kardianos/service"
)

const (
	platform     = "linux-systemd"
	platformName = "systemd"
	account      = "whd"
	stateDir     = "/var/lib/whd" // of StateDirectory in the unit
)

// packaged lists the paths of a unit installed by a package.
var packaged = []string{"/usr/lib/systemd/system/whd.service", "/lib/systemd/system/whd.service"}

func (i Installation) options() manage.KeyValue {
	return manage.KeyValue{"SystemdScript": Unit(i.Executable, i.Config)}
}

// allow returns an error if the service cannot be installed here.
func (i Installation) allow() error {
	if os.Geteuid() != 0 {
		return errors.New("installing a service requires root: run it with sudo")
	}
	for _, unit := range packaged {
		if _, err := os.Stat(unit); err == nil {
			return fmt.Errorf("the service was installed by a package (%s);"+
				" start it with: systemctl enable --now %s", unit, Name)
		}
	}
	for _, hidden := range []string{"/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"} {
		if strings.HasPrefix(i.Executable, hidden) {
			return fmt.Errorf("services cannot access %s;"+
				" copy the program to /usr/local/bin/%s and install it from there",
				i.Executable, Name)
		}
	}
	return nil
}

func (i Installation) install(s manage.Service, out io.Writer) error {
	group, err := makeAccount(out)
	if err != nil {
		return err
	}
	if err := makeStateDir(group); err != nil {
		return err
	}
	if err := i.makeSettings(group, out); err != nil {
		return err
	}
	if err := s.Install(); err != nil {
		return err
	}
	fmt.Fprintf(out, "service installed; start it with: %s service start\n", Name)
	return nil
}

// makeAccount creates the account unless it exists, and returns the id of its group.
func makeAccount(out io.Writer) (int, error) {
	if _, err := user.Lookup(account); err != nil {
		cmd := exec.Command("useradd", "--system", "--user-group", "--home-dir", stateDir,
			"--no-create-home", "--shell", "/usr/sbin/nologin", account)
		if text, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("creating the account %s: %w: %s", account, err, text)
		}
		fmt.Fprintf(out, "account %s created\n", account)
	}
	group, err := user.LookupGroup(account)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(group.Gid)
}

// makeStateDir creates the data directory unless it exists. systemd creates it too, but
// commands such as whd migrate run before the first start.
func makeStateDir(group int) error {
	err := os.Mkdir(stateDir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	owner, err := user.Lookup(account)
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return err
	}
	return os.Chown(stateDir, id, group)
}

// makeSettings writes the settings file unless it exists. Only root and the service can
// read it.
func (i Installation) makeSettings(group int, out io.Writer) error {
	if _, err := os.Stat(i.Config); err == nil {
		return nil
	}
	dir := filepath.Dir(i.Config)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	err := errors.Join(
		os.WriteFile(i.Config, i.Settings, 0o640),
		os.Chmod(i.Config, 0o640),
		os.Chown(i.Config, 0, group))
	if filepath.Base(dir) == Name {
		err = errors.Join(err, os.Chmod(dir, 0o750), os.Chown(dir, 0, group))
	}
	if err == nil {
		fmt.Fprintf(out, "settings in %s\n", i.Config)
	}
	return err
}

// failed reports whether systemd considers the service failed.
func failed() bool {
	// The exit status of the command agrees with its output.
	text, _ := exec.Command("systemctl", "is-failed", Name+".service").Output()
	return strings.TrimSpace(string(text)) == "failed"
}

// SendReload requests the service to reload its settings.
func SendReload() error {
	text, err := exec.Command("systemctl", "reload", Name+".service").CombinedOutput()
	if err != nil {
		return fmt.Errorf("systemctl reload: %w: %s", err, text)
	}
	return nil
}
