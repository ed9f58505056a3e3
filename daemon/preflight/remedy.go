package preflight

import (
	"errors"
	"io/fs"
	"runtime"

	"github.com/bizhook/whd/daemon/datadir"
)

// The functions of this file return remedies for problems of the machine, by platform.

// directoryRemedy is the remedy if the data directory is not accessible. owner may be empty.
func directoryRemedy(platform, dir, owner string) string {
	if platform == "windows" {
		return `run the command in a terminal opened as administrator; the account of the service needs the right` +
			` to modify the directory: icacls "` + dir + `" /grant "NT SERVICE\whd:(OI)(CI)M";` +
			` replace NT SERVICE\whd if the service has another account`
	}
	if platform == "linux" && owner != "" {
		return "run the command as the owner of the directory: sudo -u " + owner + " whd check"
	}
	return "run the command as the owner of the directory"
}

// clockRemedy is the remedy for a clock that is wrong.
func clockRemedy(platform string) string {
	switch platform {
	case "windows":
		return "synchronize it: w32tm /resync"
	case "linux":
		return "synchronize it: timedatectl set-ntp true"
	}
	return "synchronize it with a time server"
}

// addressRemedy is the remedy if the service does not respond at its address.
func addressRemedy(platform string) string {
	if platform == "windows" {
		return "check that the service is running, with whd service status, and that a rule of the firewall" +
			" lets others connect: Get-NetFirewallRule -DisplayName whd"
	}
	return "check that the service is running and reachable"
}

// directoryProblem describes an error in the use of the data directory.
func directoryProblem(dir string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return dir + " does not exist; the first start of the service creates it, unless data_dir is wrong"
	}
	if errors.Is(err, fs.ErrPermission) {
		return err.Error() + "; " + directoryRemedy(runtime.GOOS, dir, datadir.Owner(dir))
	}
	return err.Error()
}
