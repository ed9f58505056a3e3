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

// TestDoctorOfStoppedService checks that a refused connection fails one check, and not the ones that
// depend on it.
func TestDoctorOfStoppedService(t *testing.T) {
	for _, scheme := range []string{"http", "https"} {
		got := invocation{env: adminEnv(scheme + "://127.0.0.1:1")}.run(t, "doctor", "--json")
		if !strings.Contains(got.stdout, `"Check":"address","Result":"fail"`) {
			t.Errorf("%s: got %v, want a failed check of the address", scheme, got)
		}
		for _, dependent := range []string{"certificate", "service", "clock"} {
			if strings.Contains(got.stdout, `"Check":"`+dependent+`"`) {
				t.Errorf("%s: got %v, want no check of the %s", scheme, got, dependent)
			}
		}
	}
}

// TestDoctorOfServiceWithoutWebhooks checks that webhooks that are disabled by the settings are no
// problem, and that nothing about them is requested.
func TestDoctorOfServiceWithoutWebhooks(t *testing.T) {
	service := daemontest.Start(t, "--webhooks-enabled=false")
	got := invocation{env: adminEnv(service.URL)}.run(t, "doctor", "--json")
	if got.code != 0 || !strings.Contains(got.stdout, `"Check":"sign-in","Result":"ok"`) {
		t.Errorf("whctl doctor: got %v, want exit code 0 and a sign-in", got)
	}
	for _, name := range []string{"stream", "deliveries", "host url"} {
		if strings.Contains(got.stdout, `"Check":"`+name+`"`) {
			t.Errorf("whctl doctor: got %v, want no check of the %s", got, name)
		}
	}
}
