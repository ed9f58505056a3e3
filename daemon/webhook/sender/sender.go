// Package sender makes delivery attempts over HTTP: it signs messages, checks each
// address before it connects, and reports the outcome.
package sender

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/webhook"
)

// Config configures a Sender.
type Config struct {
	Guard          webhook.Guard
	UserAgent      string               // of the header User-Agent
	ConnectTimeout time.Duration        // limit of establishing a connection
	AttemptTimeout func() time.Duration // limit of a whole attempt; called for each
	MaxIdlePerHost int                  // idle connections kept per host
	TestTarget     *url.URL             // the service's own test target, exempt from the guard; nil for none
}

// Sender makes attempts over HTTP.
type Sender struct {
	config       Config
	public       *http.Client // to public addresses
	withPrivate  *http.Client // also to private networks
	toTestTarget *http.Client // to the service's own test target
}

// New returns a Sender. Connections are not shared between subscriptions that may reach
// private addresses and those that may not.
func New(c Config) *Sender {
	return &Sender{config: c,
		public:       c.client(&net.Dialer{Timeout: c.ConnectTimeout, Control: dialControl(c.Guard, false)}),
		withPrivate:  c.client(&net.Dialer{Timeout: c.ConnectTimeout, Control: dialControl(c.Guard, true)}),
		toTestTarget: c.client(&net.Dialer{Timeout: c.ConnectTimeout}),
	}
}

func (c Config) client(d *net.Dialer) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            d.DialContext,
			TLSHandshakeTimeout:    c.ConnectTimeout,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    c.MaxIdlePerHost,
			IdleConnTimeout:        90 * time.Second,
			ExpectContinueTimeout:  time.Second,
			DisableCompression:     true, // keeps small responses small
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Close closes idle connections.
func (s *Sender) Close() {
	for _, c := range []*http.Client{s.public, s.withPrivate, s.toTestTarget} {
		c.CloseIdleConnections()
	}
}

// Send makes one attempt, signed with the time at.
func (s *Sender) Send(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) (o webhook.Outcome) {
	began := time.Now()
	limit := s.config.AttemptTimeout()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer func() { o.Began, o.Took = at.UTC(), time.Since(began) }()
	req, err := s.request(ctx, m, sub, at)
	if err != nil {
		return webhook.Outcome{Cause: webhook.TargetForbidden, Detail: "the URL is invalid"}
	}
	sent := time.Now()
	resp, err := s.clientFor(req.URL, m.MadeByAdmin).Do(req)
	if err != nil {
		return failure(ctx, err, limit)
	}
	defer resp.Body.Close()
	o = webhook.Outcome{Code: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), at.Add(time.Since(sent)))}
	for _, request := range resp.Header.Values("Webhook-Delivery") {
		switch strings.ToLower(strings.TrimSpace(request)) {
		case "disable":
			o.Disable = true
		case "abort-message":
			o.Abort = true
		}
	}
	o.Text = readBody(resp.Body, cancel)
	return o
}

func (s *Sender) clientFor(u *url.URL, byAdmin bool) *http.Client {
	switch {
	case webhook.IsTestTarget(s.config.TestTarget, u):
		return s.toTestTarget
	case byAdmin:
		return s.withPrivate
	}
	return s.public
}

// request builds the POST request of Standard Webhooks. The subscription's headers are
// applied last: they may replace the content type.
func (s *Sender) request(ctx context.Context, m *webhook.Message, sub *webhook.Subscription, at time.Time) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Event.Body))
	if err != nil {
		return nil, err
	}
	h := make(http.Header, 8+len(sub.Headers))
	h["Content-Type"] = []string{"application/json; charset=utf-8"}
	h["User-Agent"] = []string{s.config.UserAgent}
	h[headerID] = []string{m.GUID}
	h[headerTimestamp] = []string{strconv.FormatInt(at.Unix(), 10)}
	if signature := sign(sub.SecretsAt(at), m.GUID, at, m.Event.Body); signature != "" {
		h[headerSignature] = []string{signature}
	}
	name, test := record.SentEvent(m.Event.Name)
	if h[headerEvent] = []string{name}; test {
		h[headerTest] = []string{"true"}
	}
	for i, header := range sub.HeadersFor(m.URL) {
		if !slices.ContainsFunc(sub.Headers[:i], func(before webhook.Header) bool { return strings.EqualFold(before.Name, header.Name) }) {
			h.Del(header.Name)
		}
		h.Add(header.Name, header.Value)
	}
	if h.Get(idempotencyKeyHeader) == "" {
		h[idempotencyKeyHeader] = []string{}
	}
	req.Header = h
	return req, nil
}

// idempotencyKeyHeader is set without a value: it is not sent, but allows net/http to
// retry the request on another connection if the peer has closed the first one.
const idempotencyKeyHeader = "Idempotency-Key"

// Limits of reading a response body.
const (
	maxBodyRead     = 64 << 10 // enough to reuse most connections
	maxStoredBody   = 4 << 10  // recorded with the attempt
	bodyReadTimeout = 2 * time.Second
)

// readBody returns the beginning of a response body. The status is already known, so a
// body that does not end has no effect on the outcome.
func readBody(body io.Reader, cancel context.CancelFunc) []byte {
	timer := time.AfterFunc(bodyReadTimeout, cancel)
	defer timer.Stop()
	kept, _ := io.ReadAll(io.LimitReader(body, maxStoredBody))
	if len(kept) == maxStoredBody {
		_, _ = io.CopyN(io.Discard, body, maxBodyRead-maxStoredBody)
	}
	return bytes.ToValidUTF8(kept, []byte("\uFFFD"))
}

// failure returns the outcome of an attempt without a response within a limit.
func failure(ctx context.Context, err error, limit time.Duration) webhook.Outcome {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // the full error repeats the URL
	}
	o := webhook.Outcome{Cause: cause(ctx, err), Detail: err.Error()}
	if errors.Is(err, context.DeadlineExceeded) && !isA[*net.OpError](err) { // connected
		o.Detail = fmt.Sprintf("no response within %s, the limit of webhooks.attempt_timeout", limit)
	}
	return o
}

func cause(ctx context.Context, err error) webhook.Cause {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, webhook.ErrForbidden):
		return webhook.TargetForbidden
	case errors.As(err, &timeout) && timeout.Timeout() || ctx.Err() != nil:
		return webhook.TimedOut
	case isA[*net.DNSError](err):
		return webhook.NameNotFound
	case errors.Is(err, syscall.ECONNREFUSED):
		return webhook.ConnectionRefused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return webhook.ConnectionReset
	case isTLS(err):
		return webhook.TLSFailed
	case isProtocol(err):
		return webhook.InvalidResponse
	}
	return webhook.NetworkFailed
}

func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

func isTLS(err error) bool {
	return isA[tls.RecordHeaderError](err) || isA[tls.AlertError](err) || isA[*tls.CertificateVerificationError](err) || isA[x509.HostnameError](err) ||
		strings.HasPrefix(err.Error(), "tls: ") || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

func isProtocol(err error) bool {
	return isA[textproto.ProtocolError](err) || strings.Contains(err.Error(), "malformed HTTP") ||
		strings.Contains(err.Error(), "1xx") || strings.Contains(err.Error(), "response headers exceeded")
}

// retryAfter parses the header's seconds or date. It returns 0 for an invalid value.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// dialControl returns a net.Dialer's Control function that checks each address before a
// connection is made.
func dialControl(g webhook.Guard, allowPrivate bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return fmt.Errorf("%w: %s is not an address", webhook.ErrForbidden, address)
		}
		return g.Check(to, allowPrivate)
	}
}

// Headers of https://www.standardwebhooks.com, in net/http's canonical form, and of
// this service.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
	headerEvent     = "X-Event-Name"
	headerTest      = "Webhook-Test" // reserved: subscriptions cannot set it
)

// sign returns the value of the signature header, one signature for each secret.
// Invalid secrets are skipped; stored ones have been validated.
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
