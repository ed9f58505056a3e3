// Package uuid takes the place of github.com/hashicorp/go-uuid in the binaries, by a
// replace directive in go.mod. The Kerberos library needs one function of that module; its
// licence, MPL-2.0, has obligations for binaries.
package uuid

import (
	"crypto/rand"
	"fmt"
)

// GenerateUUID returns a random UUID.
func GenerateUUID() (string, error) {
	var b [16]byte
	_, _ = rand.Read(b[:])  // never fails
	b[6] = b[6]&0x0f | 0x40 // version 4
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}
