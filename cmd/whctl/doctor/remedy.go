package doctor

import (
	"net"
	"net/url"
)

// The functions of this file return remedies for problems of the network, by platform.

// proxyRemedy is the remedy for a proxy that is not usable.
func proxyRemedy(platform string) string {
	remedy := "check the variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
	if platform == "windows" {
		remedy += "; the proxy in the settings of Windows is not used"
	}
	return remedy
}

// connectRemedy is the remedy if the service does not accept connections.
func connectRemedy(platform string, u *url.URL) string {
	host, port, err := net.SplitHostPort(hostPort(u))
	if platform == "windows" && err == nil {
		return "check that the service is running, with whd service status on its machine, and that a rule of its" +
			" firewall lets others connect: Test-NetConnection " + host + " -Port " + port +
			"; set $env:HTTPS_PROXY to use a proxy"
	}
	return "check that the service is running and that no firewall blocks it; set HTTPS_PROXY to use a proxy"
}

// trustRemedy is the remedy for a certificate of an unknown issuer.
func trustRemedy(platform string) string {
	remedy := "whctl config update ca_file FILE, with the certificate of its issuer"
	if platform == "windows" {
		remedy += "; or trust the issuer on this machine, as administrator: certutil -addstore Root FILE"
	}
	return remedy
}
