package listen

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

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/client/wire"
	cmdline "github.com/bizhook/whd/cmd/internal/cli"
	"github.com/bizhook/whd/cmd/whctl/output"
)

const (
	defaultTimeout = 30 * time.Second // used if the limit of the service is unknown
	maxResponse    = 64 << 10         // bytes of a response body that are read and shown
)

// Forwarder posts messages to a receiver under development.
type Forwarder struct {
	to     *url.URL
	http   *http.Client
	secret []byte // signs the messages; nil for none
	now    func() time.Time
}

// NewForwarder parses --forward-to, an address with or without scheme.
func NewForwarder(text string, now func() time.Time) (*Forwarder, error) {
	to, err := parseReceiver(text)
	if err != nil {
		return nil, err
	}
	receiver := &http.Client{
		Timeout: defaultTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}
	return &Forwarder{to: to, now: now, http: receiver}, nil
}

// parseReceiver parses the address of a receiver. It is one of HTTP if it has no scheme.
func parseReceiver(text string) (*url.URL, error) {
	// A query may contain the address of another server.
	start, _, hasScheme := strings.Cut(text, "://")
	if !hasScheme || strings.ContainsAny(start, "/?#") {
		text = "http://" + text
	}
	const expected = "--forward-to must be like localhost:3000 or http://localhost:3000/hooks"
	to, err := url.Parse(text)
	if err != nil {
		if inURL, ok := errors.AsType[*url.Error](err); ok {
			err = inURL.Err // the wrapper repeats the address
		}
		return nil, cmdline.Usagef("%s: %s", expected, err)
	}
	isHTTP := to.Scheme == "http" || to.Scheme == "https"
	if !isHTTP || to.Host == "" {
		return nil, cmdline.Usagef("%s", expected)
	}
	return to, nil
}

// attemptTimeout is the setting of the service that limits an attempt.
const attemptTimeout = "webhooks.attempt_timeout"

// useTimeoutOf allows the receiver as much time as the service allows those of subscriptions. If
// the service does not return the setting, the limit stays as it is.
func (f *Forwarder) useTimeoutOf(ctx context.Context, service *client.Client) error {
	settings, err := service.Settings(ctx)
	if err != nil {
		return err
	}
	for _, s := range settings {
		if s.Name != attemptTimeout {
			continue
		}
		limit, err := time.ParseDuration(s.Value)
		if err != nil {
			return fmt.Errorf("%s: %w", attemptTimeout, err)
		}
		f.http.Timeout = limit
	}
	return nil
}

// response is the response of a receiver.
type response struct {
	status   int
	body     []byte
	duration time.Duration
}

// post sends a message as the service does, but without the custom headers of
// subscriptions.
func (f *Forwarder) post(ctx context.Context, id, event string, body []byte) (response, error) {
	request, err := http.NewRequestWithContext(
		ctx, http.MethodPost, f.to.String(), bytes.NewReader(body))
	if err != nil {
		return response{}, err
	}
	f.setHeader(request.Header, id, event, body)
	start := time.Now()
	reply, err := f.http.Do(request)
	if err != nil {
		if inURL, ok := errors.AsType[*url.Error](err); ok {
			err = inURL.Err // the wrapper repeats the address
		}
		return response{duration: time.Since(start)}, f.describe(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxResponse))
	return response{reply.StatusCode, text, time.Since(start)}, f.describe(err)
}

// setHeader sets the header of a message, with a signature if there is a secret.
func (f *Forwarder) setHeader(header http.Header, id, event string, body []byte) {
	sent, isTest := record.SentEvent(event)
	header.Set("Content-Type", wire.BodyType(body))
	header.Set("Webhook-Id", id)
	header.Set("X-Event-Name", sent)
	if isTest {
		header.Set("Webhook-Test", "true")
	}
	if f.secret != nil {
		sentAt := f.now()
		header.Set("Webhook-Timestamp", fmt.Sprint(sentAt.Unix()))
		header.Set("Webhook-Signature", signature(f.secret, id, sentAt, body))
	}
}

// describe returns the reason why there is no complete response.
func (f *Forwarder) describe(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("timeout after %s", f.http.Timeout)
	}
	return err
}

// signature returns the signature of Standard Webhooks.
func signature(secret []byte, id string, sentAt time.Time, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	fmt.Fprintf(mac, "%s.%d.", id, sentAt.Unix())
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// secretPrefix is the prefix of secrets in Standard Webhooks.
const secretPrefix = "whsec_"

// SignWith signs messages with the secret in a file. It creates the file with a new
// secret if it does not exist.
func (f *Forwarder) SignWith(path string) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.createSecret(path)
	}
	if err != nil {
		return err
	}
	// Editors of Windows may add a byte order mark.
	line := strings.TrimSpace(strings.TrimPrefix(string(text), "\ufeff"))
	encoded, hasPrefix := strings.CutPrefix(line, secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	hasLength := len(secret) >= 24 && len(secret) <= 64
	if err != nil || !hasPrefix || !hasLength {
		return fmt.Errorf("%s has no valid secret: whsec_ and 24 to 64 bytes in base64", path)
	}
	f.secret = secret
	return nil
}

// createSecret signs messages with a new secret, after it has written it to a file.
func (f *Forwarder) createSecret(path string) error {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // never fails
	line := secretPrefix + base64.StdEncoding.EncodeToString(secret) + "\n"
	err := output.ReplaceFile(path, []byte(line), output.PrivateFile)
	if err != nil {
		return err
	}
	f.secret = secret
	return nil
}
