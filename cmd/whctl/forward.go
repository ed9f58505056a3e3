package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/bizhook/whd/client/record"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

const (
	forwardTimeout = 30 * time.Second // longer than the service itself waits
	maxAnswer      = 64 << 10         // of which the service reads no more either
)

// forwarder posts messages to a receiver that is being worked on.
type forwarder struct {
	to     *url.URL
	http   *http.Client
	secret []byte // that messages are signed with; nil for none
	now    func() time.Time
}

// newForwarder reads --forward-to: an address, of which the scheme may be left
// out.
func newForwarder(text string, now func() time.Time) (*forwarder, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	to, err := url.Parse(text)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return nil, cmdline.Usagef("--forward-to must be like localhost:3000 or http://localhost:3000/hooks")
	}
	return &forwarder{to: to, now: now, http: &http.Client{
		Timeout:       forwardTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// answered is what a receiver said.
type answered struct {
	status int
	body   []byte
	took   time.Duration
}

// post sends a message as the service does, but for headers of subscriptions.
func (f *forwarder) post(ctx context.Context, id, event string, body []byte) (answered, error) {
	sent, test := record.SentEvent(event)
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Webhook-Id": {id}, "X-Event-Name": {sent}}
	if test {
		header.Set("Webhook-Test", "true")
	}
	if f.secret != nil {
		at := f.now()
		header.Set("Webhook-Timestamp", fmt.Sprint(at.Unix()))
		header.Set("Webhook-Signature", signature(f.secret, id, at, body))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.to.String(), bytes.NewReader(body))
	if err != nil {
		return answered{}, err
	}
	request.Header = header
	start := time.Now()
	reply, err := f.http.Do(request)
	if err != nil {
		var inURL *url.Error
		if errors.As(err, &inURL) {
			err = inURL.Err // the wrapping repeats the address
		}
		return answered{took: time.Since(start)}, err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxAnswer))
	return answered{reply.StatusCode, text, time.Since(start)}, err
}

// signature is that of Standard Webhooks.
func signature(secret []byte, id string, at time.Time, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%d.", id, at.Unix())
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// secretPrefix begins every secret, as Standard Webhooks has it.
const secretPrefix = "whsec_"

var errLocalSecret = errors.New("holds no secret such as whctl listen writes: whsec_ and 24 to 64 bytes in base64")

// localSecret is the secret of a file, which is made where it is not there.
func localSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		key := make([]byte, sha256.Size)
		_, _ = rand.Read(key) // never fails
		return key, output.ReplaceFile(path, []byte(secretPrefix+base64.StdEncoding.EncodeToString(key)+"\n"), output.PrivateFile)
	}
	if err != nil {
		return nil, err
	}
	encoded, ok := strings.CutPrefix(strings.TrimSpace(string(text)), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, fmt.Errorf("%s %w", path, errLocalSecret)
	}
	return key, nil
}
