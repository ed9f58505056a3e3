package service

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/bizhook/whd/daemon/access"
)

// CheckSettings returns an error with a remedy if others than administrators can change a settings
// file, which commands with all rights read. On Windows the service may change it: earlier versions
// installed it so.
func CheckSettings(path string) error {
	var accounts []string
	if runtime.GOOS == "windows" {
		accounts = AccountIDs()
	}
	return explained(access.CheckFile(path, accounts...), settingsRemedy(runtime.GOOS))
}

// CheckOwnSettings is CheckSettings in the process of the service, which may not query the service
// manager while it starts. It trusts the user of this process, and the default account.
func CheckOwnSettings(path string) error {
	var accounts []string
	if runtime.GOOS == "windows" {
		accounts = []string{identity(Name)}
	}
	return explained(access.CheckFile(path, accounts...), settingsRemedy(runtime.GOOS))
}

// CheckData returns an error with a remedy if others than administrators and the service can change
// the data directory.
func CheckData(dir string) error {
	accounts := AccountIDs()
	return explained(access.CheckDir(dir, accounts...), dataRemedy(runtime.GOOS, dir, accounts))
}

// CheckProgram returns an error with a remedy if others than administrators can replace the program
// of a service.
func CheckProgram(path string) error {
	return explained(access.CheckFile(path), programRemedy)
}

// explained adds a remedy to an error that wraps access.ErrExposed.
func explained(err error, remedy string) error {
	if !errors.Is(err, access.ErrExposed) {
		return err
	}
	return fmt.Errorf("%w; %s", err, remedy)
}

func settingsRemedy(platform string) string {
	if platform == "windows" {
		return "administrators run whd with these files: rename the directory, run whd service uninstall and" +
			" whd service install, and copy the files that you trust into the new directory"
	}
	return "root runs whd with it: make root the owner, and remove the rights of others to write" +
		" (chown root, chmod go-w)"
}

// dataRemedy differs from settingsRemedy on Windows: an installation with settings that exist does not
// create their data directory. The last account is that of the service.
func dataRemedy(platform, dir string, accounts []string) string {
	if platform != "windows" {
		return settingsRemedy(platform)
	}
	command := fmt.Sprintf(`icacls "%s" /inheritance:r /grant:r`, dir)
	for _, grant := range []string{"S-1-5-18:(OI)(CI)F", "S-1-5-32-544:(OI)(CI)F"} {
		command += fmt.Sprintf(` "*%s"`, grant)
	}
	if len(accounts) > 0 {
		command += fmt.Sprintf(` "*%s:(OI)(CI)M"`, accounts[len(accounts)-1])
	}
	return "administrators run whd with these files: remove those that you do not trust, and let only" +
		" administrators and the service change the directory; for its inherited permissions, run: " + command
}

const programRemedy = "the service runs this program: move the programs to a directory below Program Files," +
	" and install the service from there"
