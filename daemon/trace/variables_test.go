package trace_test

import (
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/bizhook/whd/daemon/trace"
)

// TestInvalidVariables checks that errors name the variable but do not contain its value,
// which may be a secret.
func TestInvalidVariables(t *testing.T) {
	for _, c := range []struct {
		name, value string
		valid       bool
	}{
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1", true},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://[canary", false},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "canary:4318", false},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:canary@127.0.0.1:1", false},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "/canary", false},
		{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20canary, x-org = 1", true},
		{"OTEL_EXPORTER_OTLP_HEADERS", "Bearer canary", false},
		{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%zcanary", false},
		{"OTEL_EXPORTER_OTLP_HEADERS", "authorization: canary=", false},
		{"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=b,canary", false},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			printed := stderr(t, func() {
				tracer, err := trace.Open(t.Context(), trace.Config{
					Endpoint: "http://127.0.0.1:1",
					Log:      slog.New(slog.DiscardHandler),
				})
				if isValid := err == nil; isValid != c.valid {
					t.Errorf("got error %v, want valid: %v", err, c.valid)
				}
				if err != nil && !strings.Contains(err.Error(), c.name) {
					t.Errorf("got error %v, want the name %s", err, c.name)
				}
				if err != nil && strings.Contains(err.Error(), "canary") {
					t.Errorf("got error %v, want it without the value", err)
				}
				if err := tracer.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
			if printed != "" {
				t.Errorf("printed %s, want nothing", printed)
			}
		})
	}
}

// stderr returns the output of a call to standard error.
func stderr(t *testing.T, call func()) string {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	before := os.Stderr
	os.Stderr = to
	defer func() { os.Stderr = before }()
	call()
	to.Close()
	text, err := io.ReadAll(from)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
