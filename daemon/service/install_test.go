package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/access"
)

// TestRemoveNewSettings checks that only a settings file with the initial content is removed.
func TestRemoveNewSettings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "whd.toml")
	i := Installation{Config: path, Settings: []byte("listen = ':1'\n")}
	if err := i.removeNewSettings(); err != nil {
		t.Errorf("without a file: %v", err)
	}
	for content, isKept := range map[string]bool{
		"listen = ':1'\n": false,
		"listen = ':2'\n": true,
		"":                true,
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := i.removeNewSettings(); err != nil {
			t.Errorf("with %q: %v", content, err)
		}
		if _, err := os.Stat(path); (err == nil) != isKept {
			t.Errorf("with %q: the file is kept: %t, want %t", content, err == nil, isKept)
		}
	}
}

// TestStopPatiently stops a service that does not accept requests at first.
func TestStopPatiently(t *testing.T) {
	errBusy, errEnded := errors.New("busy"), errors.New("ended")
	errOther := errors.New("other")
	classify := func(err error) outcome {
		switch err {
		case errBusy:
			return busy
		case errEnded:
			return ended
		}
		return failure
	}
	for _, test := range []struct {
		name     string
		results  []error // of the attempts; the last one repeats
		limit    time.Duration
		want     error
		attempts int
	}{
		{"running", []error{nil}, time.Minute, nil, 1},
		{"starting, then running", []error{errBusy, errBusy, nil}, time.Minute, nil, 3},
		{"starting, then ended", []error{errBusy, errEnded}, time.Minute, nil, 2},
		{"not running", []error{errEnded}, time.Minute, errEnded, 1},
		{"starting, then another error", []error{errBusy, errOther}, time.Minute, errOther, 2},
		{"starting for too long", []error{errBusy}, -1, errBusy, 1},
	} {
		attempts := 0
		err := stopPatiently(func() error {
			result := test.results[min(attempts, len(test.results)-1)]
			attempts++
			return result
		}, classify, time.Millisecond, test.limit)
		if !errors.Is(err, test.want) || (err == nil) != (test.want == nil) || attempts != test.attempts {
			t.Errorf("%s: got the error %v after %d attempts, want %v after %d",
				test.name, err, attempts, test.want, test.attempts)
		}
	}
}

// TestSettingsOf finds the settings file in the arguments of a service.
func TestSettingsOf(t *testing.T) {
	for _, test := range []struct {
		arguments []string
		want      string
	}{
		{[]string{"whd.exe", "serve", "--config", `D:\a b\whd.toml`}, `D:\a b\whd.toml`},
		{[]string{"whd.exe", "serve"}, ""},
		{[]string{"whd.exe", "serve", "--config"}, ""},
		{nil, ""},
	} {
		if got := settingsOf(test.arguments); got != test.want {
			t.Errorf("the settings of %q are %q, want %q", test.arguments, got, test.want)
		}
	}
}

// TestExplained checks that only errors about access get the remedy, by platform.
func TestExplained(t *testing.T) {
	exposed := fmt.Errorf("eve may change it: %w", access.ErrExposed)
	for platform, want := range map[string]string{
		"windows": "rename the directory",
		"linux":   "chown root",
	} {
		err := explained(exposed, settingsRemedy(platform))
		if !errors.Is(err, access.ErrExposed) || !strings.Contains(err.Error(), want) {
			t.Errorf("on %s: got the error %v, want one with %q", platform, err, want)
		}
	}
	got := dataRemedy("windows", `D:\a b`, []string{"S-1-5-80-1", "S-1-5-21-2"})
	want := `icacls "D:\a b" /inheritance:r /grant:r "*S-1-5-18:(OI)(CI)F" "*S-1-5-32-544:(OI)(CI)F"` +
		` "*S-1-5-21-2:(OI)(CI)M"`
	if !strings.HasSuffix(got, want) {
		t.Errorf("the remedy for data is %s, want the command %s", got, want)
	}
	if err := explained(os.ErrPermission, "remedy"); err != os.ErrPermission {
		t.Errorf("another error: got %v, want it unchanged", err)
	}
}
