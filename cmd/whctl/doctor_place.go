package main

import (
	"errors"

	"github.com/zalando/go-keyring"
)

// keyringWorks asks for something that is not there.
func (d *patient) keyringWorks() finding {
	_, err := d.vault.askKeyring(d.c.Context, func() (string, error) {
		text, err := keyring.Get(keyringService, "doctor")
		if errors.Is(err, keyring.ErrNotFound) {
			err = nil
		}
		return text, err
	})
	if err != nil {
		return finding{Result: odd, Detail: err.Error(), Fix: "whctl login --insecure-storage keeps logins in a file; " + envToken + " and " + envPassword + " need neither"}
	}
	return finding{Result: fine, Detail: "works"}
}
