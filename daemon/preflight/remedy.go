package preflight

import (
	"errors"
	"io/fs"
	"runtime"
)

// remedy is the remedy for a problem of the machine, by platform.
type remedy struct{ windows, unix string }

// Remedies of the checks of the machine.
var (
	directoryRemedy = remedy{
		windows: `run the command in a terminal opened as administrator; the service needs the right to modify` +
			` the directory: icacls DIRECTORY /grant "NT SERVICE\whd:(OI)(CI)M"`,
		unix: "run the command as the owner of the directory: sudo -u whd whd check",
	}
	clockRemedy = remedy{
		windows: "synchronize it: w32tm /resync",
		unix:    "synchronize it: timedatectl set-ntp true",
	}
	addressRemedy = remedy{
		windows: "check that the service is running, with whd service status, and that a rule of the firewall" +
			" lets others connect: Get-NetFirewallRule -DisplayName whd",
		unix: "check that the service is running and reachable",
	}
)

// here returns the remedy for this platform.
func (r remedy) here() string { return r.on(runtime.GOOS) }

// on returns the remedy for a platform.
func (r remedy) on(platform string) string {
	if platform == "windows" {
		return r.windows
	}
	return r.unix
}

// directoryProblem describes an error in the use of the data directory.
func directoryProblem(err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return err.Error() + "; " + directoryRemedy.here()
	}
	return err.Error()
}
