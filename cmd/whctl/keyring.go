package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/zalando/go-keyring"
)

// keyringPatience is how long the keyring of the system gets: it may wait for
// somebody to unlock it, where there is nobody.
const keyringPatience = 3 * time.Second

// keyringService is the name under which the keyring has our secrets.
const keyringService = "whctl"

// Vault keeps logins: in the keyring of the system, or in a file beside the
// configuration.
type Vault struct {
	Env      func(string) string
	Patience time.Duration // with the keyring
}

// secret is what a login is worth, kept apart from what it is of.
type secret struct {
	Session  string
	Password string `json:",omitempty"` // with --remember
}

// ask runs one call of the keyring, which cannot be interrupted. One that is
// left behind ends with the process.
func (v Vault) askKeyring(ctx context.Context, call func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := call()
		done <- answer{text, err}
	}()
	select {
	case a := <-done:
		return a.text, keyringError(a.err)
	case <-time.After(v.Patience):
		return "", fmt.Errorf("the keyring did not answer within %s", v.Patience)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// keyringError says in a line why the keyring does not do its work here.
func keyringError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, keyring.ErrNotFound):
		return errors.New("the keyring does not hold it")
	case runtime.GOOS == "windows" && strings.Contains(err.Error(), "logon session"):
		return errors.New("no keyring in this session: Windows refuses it to network logons such as SSH")
	case runtime.GOOS == "linux":
		return fmt.Errorf("no keyring in this session: no D-Bus secret service (%w)", err)
	}
	return fmt.Errorf("no keyring in this session: %w", err)
}

func (v Vault) keyringSet(ctx context.Context, account string, s secret) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = v.askKeyring(ctx, func() (string, error) { return "", keyring.Set(keyringService, account, string(text)) })
	return err
}

func (v Vault) keyringGet(ctx context.Context, account string) (s secret, err error) {
	text, err := v.askKeyring(ctx, func() (string, error) { return keyring.Get(keyringService, account) })
	if err != nil {
		return s, err
	}
	if json.Unmarshal([]byte(text), &s) != nil {
		return s, errors.New("the keyring holds something else")
	}
	return s, nil
}

// keyringDelete takes a secret away. One that is not there is no error.
func (v Vault) keyringDelete(ctx context.Context, account string) error {
	_, err := v.askKeyring(ctx, func() (string, error) {
		err := keyring.Delete(keyringService, account)
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
		return "", err
	})
	return err
}
