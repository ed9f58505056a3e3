package config

import (
	"os"
	"os/exec"
	"testing"

	"github.com/bizhook/whd/client/goldentest"
)

// golden compares got with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	goldentest.Compare(t, file, got)
}

func TestConfigSample(t *testing.T) {
	defaults, err := input{}.load()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/config.toml.golden", sampleOf(defaults, nil))
}

// TestConfigSampleWithTZ runs TestConfigSample in a process with the variable TZ, which
// Go reads once.
func TestConfigSampleWithTZ(t *testing.T) {
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestConfigSample$")
	c.Env = append(os.Environ(), "TZ=UTC")
	if output, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
