package main

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/cmd/whctl/profile"
	"github.com/bizhook/whd/daemon/daemontest"
)

// The check of webhooks.host_url warns of loopback and unreachable addresses.
func TestDoctorChecksHostURL(t *testing.T) {
	for address, want := range map[string]string{
		"http://localhost:5050":       `"warn","Detail":"http://localhost:5050 is only valid on the machine of the service"`,
		"http://no-such-host.invalid": `"warn","Detail":"cannot reach http://no-such-host.invalid: `,
	} {
		service := daemontest.Start(t, "--webhooks-host-url", address)
		got := invocation{env: map[string]string{
			profile.EnvURL:      service.URL,
			profile.EnvUser:     "admin",
			profile.EnvPassword: daemontest.AdminPassword,
		}}.run(t, "doctor", "--json")
		if got.code != 0 || !strings.Contains(got.stdout, `"Check":"host url","Result":`+want) {
			t.Errorf("%s: exit %d, %s", address, got.code, got.stdout)
		}
	}
}
