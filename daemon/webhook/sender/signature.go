package sender

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"

	"github.com/bizhook/whd/daemon/webhook"
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

// sign makes the value of the signature header: one signature for each secret.
// Secrets that cannot be read sign nothing; what is stored was checked.
func sign(secrets []string, id string, at time.Time, body []byte) string {
	var all []byte
	for _, secret := range secrets {
		key, err := webhook.ParseSecret(secret)
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
