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
	"slices"
	"strconv"
	"strings"
	"syscall"

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

// makeAccount creates the account and its group unless they exist, and returns the id of the
// group.
func makeAccount(out io.Writer) (int, error) {
	_, noGroup := user.LookupGroup(account)
	_, noUser := user.Lookup(account)
	for _, args := range accountCommands(noGroup != nil, noUser != nil) {
		if text, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("creating the account %s: %w: %s", account, err, text)
		}
	}
	if noUser != nil {
		fmt.Fprintf(out, "account %s created\n", account)
	}
	owner, err := user.Lookup(account)
	if err != nil {
		return 0, err
	}
	groups, err := owner.GroupIds()
	if err != nil {
		return 0, err
	}
	group, err := user.LookupGroup(account)
	if err != nil || !slices.Contains(groups, group.Gid) {
		return 0, fmt.Errorf("the user %[1]s exists, but is not in the group %[1]s, which the service needs;"+
			" run: groupadd --force --system %[1]s && usermod --append --groups %[1]s %[1]s", account)
	}
	return strconv.Atoi(group.Gid)
}

// accountCommands returns the commands that create the account. An existing user is not changed.
func accountCommands(noGroup, noUser bool) (commands [][]string) {
	if !noUser {
		return nil
	}
	if noGroup {
		commands = append(commands, []string{"groupadd", "--system", account})
	}
	return append(commands, []string{"useradd", "--system", "--gid", account, "--home-dir", stateDir,
		"--no-create-home", "--shell", "/usr/sbin/nologin", account})
}

// makeStateDir creates the data directory unless it exists, and makes the account its owner.
// systemd does the same, but commands such as whd migrate run before the first start.
func makeStateDir(group int) error {
	owner, err := user.Lookup(account)
	if err != nil {
		return err
	}
	id, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return err
	}
	return makePrivateDir(stateDir, id, group)
}

// makePrivateDir creates a directory unless it, or a symbolic link to it, exists. The directory
// then belongs to a user, with the files in it that had the same owner as itself.
func makePrivateDir(dir string, id, group int) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := os.OpenRoot(dir) // so that no link in it leads the changes elsewhere
	if err != nil {
		return err
	}
	defer root.Close()
	before, err := ownerOf(root, ".")
	if err != nil {
		return err
	}
	err = fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if now, err := ownerOf(root, path); err != nil || now != before {
			return err
		}
		return root.Lchown(path, id, group)
	})
	if err != nil {
		return err
	}
	return root.Chmod(".", 0o700)
}

// ownerOf returns the id of the owner of a file, or of a symbolic link.
func ownerOf(root *os.Root, path string) (uint32, error) {
	info, err := root.Lstat(path)
	if err != nil {
		return 0, err
	}
	return info.Sys().(*syscall.Stat_t).Uid, nil
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
