package main

import (
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/daemontest"
)

// The check of webhooks.host_url warns of loopback and unreachable addresses.
func TestDoctorChecksHostURL(t *testing.T) {
	for address, want := range map[string]string{
		"http://localhost:5050":       `"warn","Detail":"http://localhost:5050 is only valid on the machine of the service"`,
		"http://no-such-host.invalid": `"warn","Detail":"cannot reach http://no-such-host.invalid: `,
	} {
		service := daemontest.Start(t, "--webhooks-host-url", address)
		got := invocation{env: adminEnv(service.URL)}.run(t, "doctor", "--json")
		if got.code != 0 || !strings.Contains(got.stdout, `"Check":"host url","Result":`+want) {
			t.Errorf("whctl doctor with the address %s: got %v; want exit code 0, %s",
				address, got, want)
		}
	}
}
