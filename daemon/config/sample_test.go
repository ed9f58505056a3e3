package config

import (
	"flag"
	"os"
	"os/exec"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// golden compares got with a file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from the output (go test -update rewrites it); got:\n%s", file, got)
	}
}

func TestConfigSample(t *testing.T) {
	defaults, err := input{}.load()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/config.toml.golden", sampleOf(defaults))
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
