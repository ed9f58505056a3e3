package ui_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/wire"
	"github.com/bizhook/whd/tui/ui"
)

// The reason of an error comes before URLs and paths.
func TestDescribePutsReasonFirst(t *testing.T) {
	reach := func(address string) error {
		c, err := client.New(client.Options{URL: address})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.Info(t.Context())
		return err
	}
	_, missing := os.Open(filepath.Join(t.TempDir(), "nowhere", "a file"))
	invalid := &client.Error{
		Message:   "wrong",
		RequestID: "r1",
		Fields:    []wire.FieldError{{FieldName: "Take", Message: "too many"}},
	}
	for want, err := range map[string]error{
		"cannot reach http://127.0.0.1:1: connection refused": reach("http://127.0.0.1:1"),
		"cannot reach http://whd.invalid: no such host":       reach("http://whd.invalid"),
		"no such file or directory":                           missing,
		"wrong; Take: too many (request r1)":                  invalid,
		"anything":                                            errors.New("anything"),
	} {
		got := ui.Describe(err)
		if strings.Contains(got, "server misbehaving") || strings.Contains(got, "i/o timeout") {
			continue // there is no name server in this environment
		}
		if got != want {
			t.Errorf("%v is described as %q, want %q", err, got, want)
		}
	}
}
