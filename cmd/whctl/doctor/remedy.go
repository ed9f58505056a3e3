package doctor

import (
	"net"
	"net/url"
	"runtime"
)

// remedies are the remedies for problems of the network that depend on the platform.
type remedies struct {
	proxy   string
	connect func(u *url.URL) string
	trust   string
}

// Remedies on all platforms.
const (
	checkVariables = "check the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
	trustIssuer    = "whctl config update ca_file FILE, with the certificate of its issuer"
)

var unixRemedies = remedies{
	proxy: checkVariables,
	connect: func(*url.URL) string {
		return "check that the service is running and that no firewall blocks it; set HTTPS_PROXY to use a proxy"
	},
	trust: trustIssuer,
}

var windowsRemedies = remedies{
	proxy: checkVariables + "; the proxy in the settings of Windows is not used",
	connect: func(u *url.URL) string {
		host, port, err := net.SplitHostPort(hostPort(u))
		if err != nil {
			return unixRemedies.connect(u)
		}
		return "check that the service is running, with whd service status on its machine, and that a rule of its" +
			" firewall lets others connect: Test-NetConnection " + host + " -Port " + port +
			"; set $env:HTTPS_PROXY to use a proxy"
	},
	trust: trustIssuer + "; or trust the issuer on this machine, as administrator: certutil -addstore Root FILE",
}

// remediesOn returns the remedies on a platform.
func remediesOn(platform string) remedies {
	if platform == "windows" {
		return windowsRemedies
	}
	return unixRemedies
}

// here are the remedies on this machine.
var here = remediesOn(runtime.GOOS)
