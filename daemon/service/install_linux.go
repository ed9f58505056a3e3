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

	"github.com/bizhook/whd/daemon/access"
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
	if i.Account != "" || i.Firewall {
		return errors.New("--account and --firewall are for Windows;" +
			" here the account is " + account + ", and packages of the system control the firewall")
	}
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
	if err := makeAccount(out); err != nil {
		return err
	}
	ids, err := findIDs()
	if err != nil {
		return err
	}
	// systemd does the same, but commands such as whd migrate run before the first start.
	if err := makePrivateDir(stateDir, ids); err != nil {
		return err
	}
	if err := i.makeSettings(ids, out); err != nil {
		return err
	}
	if err := s.Install(); err != nil {
		return err
	}
	fmt.Fprintf(out, "service installed; start it with: %s service start\n", Name)
	return nil
}

// stop stops the service. systemd also stops a service that is starting.
func stop(s manage.Service) error { return s.Stop() }

func restart(s manage.Service) error { return s.Restart() }

// Settings returns an empty path: packages replace the service, and commands use the default path.
func Settings() (string, error) { return "", nil }

// AccountIDs returns the identifiers of the service's account for package access.
func AccountIDs() []string {
	ids, err := findIDs()
	if err != nil {
		return nil
	}
	return []string{access.UserID(ids.user)}
}

// awaitStart does nothing: systemctl start returns when the service is ready.
func awaitStart() error { return nil }

// closeFirewall does nothing: the installation does not change the firewall.
func closeFirewall() error { return nil }

// makeAccount creates the account and its group unless they exist.
func makeAccount(out io.Writer) error {
	_, noGroup := user.LookupGroup(account)
	_, noUser := user.Lookup(account)
	for _, args := range accountCommands(noGroup != nil, noUser != nil) {
		if text, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("creating the account %s: %w: %s", account, err, text)
		}
	}
	if noUser != nil {
		fmt.Fprintf(out, "account %s created\n", account)
	}
	return nil
}

// accountIDs are the user of the account and the group of its name.
type accountIDs struct {
	user, group uint32
	groups      []uint32 // all groups of the user
}

// findIDs returns the ids of the account. It fails if its user is not in its group.
func findIDs() (accountIDs, error) {
	owner, err := user.Lookup(account)
	if err != nil {
		return accountIDs{}, err
	}
	groups, err := owner.GroupIds()
	if err != nil {
		return accountIDs{}, err
	}
	group, err := user.LookupGroup(account)
	if err != nil || !slices.Contains(groups, group.Gid) {
		return accountIDs{}, fmt.Errorf("the user %[1]s exists, but is not in the group %[1]s, which the service needs;"+
			" run: groupadd --force --system %[1]s && usermod --append --groups %[1]s %[1]s", account)
	}

	var ids accountIDs
	for _, text := range groups {
		id, err := parseID(text)
		if err != nil {
			return accountIDs{}, err
		}
		ids.groups = append(ids.groups, id)
	}
	if ids.user, err = parseID(owner.Uid); err != nil {
		return accountIDs{}, err
	}
	ids.group, err = parseID(group.Gid)
	return ids, err
}

func parseID(text string) (uint32, error) {
	id, err := strconv.ParseUint(text, 10, 32)
	return uint32(id), err
}

// canRead reports whether the account can read a file, or list a directory and access its files.
func (ids accountIDs) canRead(path string) bool {
	// A path that ends with /. can only be accessed if the directory can be searched.
	test := exec.Command("test", "-r", path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		test.Args[2] += "/."
	}
	test.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: ids.user, Gid: ids.group, Groups: ids.groups},
	}
	return test.Run() == nil
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

// makePrivateDir creates a directory, or the target of a symbolic link to it. An existing one must
// belong to the account or be empty, since others cannot use it any more: its owner is changed then.
func makePrivateDir(link string, ids accountIDs) error {
	dir, err := resolve(link)
	if err != nil {
		return err
	}
	mask := syscall.Umask(0o022) // the account must have access to the directories above
	err = os.MkdirAll(dir, 0o755)
	syscall.Umask(mask)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if owner == ids.user {
		return nil
	}

	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	isForeign := func(entry fs.DirEntry) bool { return entry.Name() != "lost+found" }
	if slices.ContainsFunc(entries, isForeign) {
		return fmt.Errorf("the data directory %[1]s is not empty, and belongs to the user %[2]s;"+
			" if all files of this user in it were written by %[3]s,"+
			" run: chown -hR --from=%[2]s %[3]s:%[3]s %[4]s/;"+
			" otherwise make %[4]s an empty directory, or a symbolic link to one",
			dir, access.UserName(owner), account, link)
	}
	if err := os.Chown(dir, int(ids.user), int(ids.group)); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// resolve returns the target of a symbolic link, which may be missing, and other paths as they are.
func resolve(path string) (string, error) {
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err // such as a loop
	}
	for {
		target, err := os.Readlink(path)
		if err != nil {
			return path, nil // not a link
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
}

// makeSettings writes the settings file unless it exists, and makes it readable for the service.
func (i Installation) makeSettings(ids accountIDs, out io.Writer) error {
	dir := filepath.Dir(i.Config)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	_, err := os.Stat(i.Config)
	isNew := errors.Is(err, fs.ErrNotExist)
	if isNew {
		if err := os.WriteFile(i.Config, i.Settings, 0o640); err != nil {
			return err
		}
	}

	paths := []string{i.Config}
	if filepath.Base(dir) == Name {
		paths = []string{dir, filepath.Join(dir, "kinds"), i.Config}
	}
	for _, path := range paths {
		if err := makeReadable(path, ids); err != nil {
			return err
		}
	}
	if isNew {
		fmt.Fprintf(out, "settings in %s\n", i.Config)
	}
	if err := CheckSettings(i.Config); err != nil {
		fmt.Fprintf(out, "warning: %v\n", err)
	}
	return nil
}

// makeReadable changes the group and the mode of a file or directory, if it exists, unless the
// account can read it. It fails behind a symbolic link, since others may use the file there.
func makeReadable(path string, ids accountIDs) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || ids.canRead(path) {
		return nil
	}
	if err != nil {
		return err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if target != filepath.Clean(path) {
		return fmt.Errorf("the user %[1]s cannot read %[2]s, which is a symbolic link, or behind one;"+
			" run: chgrp %[1]s '%[2]s' && chmod g+rX '%[2]s'", account, path)
	}

	bits := fs.FileMode(0o040)
	if info.IsDir() {
		bits = 0o050
	}
	if err := os.Chown(path, -1, int(ids.group)); err != nil {
		return err
	}
	if err := os.Chmod(path, info.Mode()|bits); err != nil {
		return err
	}
	if !ids.canRead(path) {
		return fmt.Errorf("the user %s cannot read %s; change the permissions of the directories above it",
			account, path)
	}
	return nil
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

// ReportToInstaller does nothing: installers of packages show the output of commands.
func ReportToInstaller(error) {}
