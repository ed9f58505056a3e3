package doctor

import (
	"net"
	"net/url"
	"strings"
)

// The functions of this file return remedies for problems of the network, by platform.

// proxyRemedy returns the remedy for a proxy that is not usable.
func proxyRemedy(platform string) string {
	remedy := "check the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
	if platform == "windows" {
		remedy += "; the proxy in the settings of Windows is not used"
	}
	return remedy
}

// connectRemedy returns the remedy if the service does not accept connections.
func connectRemedy(platform string, u *url.URL) string {
	remedy := "check that the service is running and that no firewall blocks it"
	variable := strings.ToUpper(u.Scheme) + "_PROXY"
	if platform == "windows" {
		remedy = "check that the service is running, with whd service status on its machine, and that a" +
			" rule of its firewall lets others connect: Test-NetConnection " + u.Hostname() +
			" -Port " + portOf(u)
		variable = "$env:" + variable
	}
	if isThisMachine(u.Hostname()) {
		return remedy
	}
	return remedy + "; set " + variable + " to use a proxy"
}

// isThisMachine reports whether the client reaches a host without any proxy, as net/http does.
func isThisMachine(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip.IsLoopback()
}

// trustRemedy returns the remedy for a certificate of an unknown issuer.
func trustRemedy(platform string) string {
	remedy := "trust its issuer, with its certificate in FILE: whctl config update ca_file FILE"
	if platform == "windows" {
		remedy += "; or for all programs of this machine, as administrator: certutil -addstore Root FILE"
	}
	return remedy
}
