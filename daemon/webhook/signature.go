package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// The headers of https://www.standardwebhooks.com, in the form that net/http
// keeps headers in, and ours.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
	headerEvent     = "X-Event-Name"
	headerTest      = "Webhook-Test" // a name that no subscription's own header may have
)

// secretPrefix begins every secret, as Standard Webhooks has it.
const secretPrefix = "whsec_"

// secretBytes is the length of new secrets: that of the hash.
const secretBytes = sha256.Size

// NewSecret makes a secret to sign with.
func NewSecret() string {
	key := make([]byte, secretBytes)
	_, _ = rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

var errSecret = errors.New("must be whsec_ and 24 to 64 bytes in base64")

// ParseSecret gives the key that a secret holds. Standard Webhooks asks for 24
// to 64 bytes.
func ParseSecret(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errSecret
	}
	return key, nil
}

// sign makes the value of the signature header: one signature for each secret.
// Secrets that cannot be read sign nothing; what is stored was checked.
func sign(secrets []string, id string, at time.Time, body []byte) string {
	var all []byte
	for _, secret := range secrets {
		key, err := ParseSecret(secret)
		if err != nil {
			continue
		}
		if all != nil {
			all = append(all, ' ')
		}
		all = appendSignature(append(all, "v1,"...), key, id, at, body)
	}
	return string(all)
}

func appendSignature(dst, key []byte, id string, at time.Time, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id))
	mac.Write([]byte{'.'})
	mac.Write(strconv.AppendInt(nil, at.Unix(), 10))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return base64.StdEncoding.AppendEncode(dst, mac.Sum(nil))
}
