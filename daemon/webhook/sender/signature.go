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
	head := append(strconv.AppendInt(append([]byte(id), '.'), at.Unix(), 10), '.')
	for _, secret := range secrets {
		key, err := webhook.ParseSecret(secret)
		if err != nil {
			continue
		}
		if all != nil {
			all = append(all, ' ')
		}
		mac := hmac.New(sha256.New, key)
		mac.Write(head)
		mac.Write(body)
		all = base64.StdEncoding.AppendEncode(append(all, "v1,"...), mac.Sum(nil))
	}
	return string(all)
}
