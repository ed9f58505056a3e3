package main

import "github.com/bizhook/whd/cmd/whctl/profile"

// keyringWorks asks for something that is not there.
func (d *patient) keyringWorks() finding {
	err := d.vault.TryKeyring(d.c.Context)
	if err != nil {
		return finding{Result: odd, Detail: err.Error(), Fix: "whctl login --insecure-storage keeps logins in a file; " + profile.EnvToken + " and " + profile.EnvPassword + " need neither"}
	}
	return finding{Result: fine, Detail: "works"}
}
