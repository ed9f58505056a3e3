package delivery_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bizhook/whd/daemon/daemontest/clientstest"
	"github.com/bizhook/whd/daemon/webhook"
	"github.com/bizhook/whd/daemon/webhook/admin"
)

// signedDelivery is a delivery as received, with the secret that the receiver verifies
// it with.
type signedDelivery struct {
	Secret  string            `json:"secret"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// TestReferenceLibraryVerifiesSignatures delivers messages before, during and after a
// rotation of the secret, and verifies them with the library of Standard Webhooks.
func TestReferenceLibraryVerifiesSignatures(t *testing.T) {
	verify := referenceLibrary(t)
	got := make(chan signedDelivery, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		d := signedDelivery{Headers: make(map[string]string), Body: string(body)}
		for name := range r.Header {
			d.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		got <- d
	}))
	t.Cleanup(srv.Close)
	h := newTestEnv(t)
	h.start()
	r := h.subscribe(srv.URL, "*")
	deliver := func() signedDelivery {
		h.publish("debtor.updated", `{"Name": "Müller & Söhne", "Text": "a\n<b> \u20ac"}`)
		return <-got
	}
	current := r.Secret
	rotate := func(oldUntil time.Time) string {
		n := admin.Rotation{Secret: webhook.NewSecret()}
		if !oldUntil.IsZero() {
			n.Old = []webhook.ReplacedSecret{{Secret: current, Until: oldUntil}}
		}
		current = n.Secret
		if _, err := h.service.ChangeSubscription(context.Background(), h.subscriber, r.GUID, admin.SubscriptionChange{Secret: &n}, admin.Caller{}); err != nil {
			t.Fatal(err)
		}
		return n.Secret
	}
	first := r.Secret
	before := deliver()
	second := rotate(time.Now().Add(time.Hour))
	between := deliver()
	third := rotate(time.Time{}) // the second secret expires immediately
	after := deliver()

	changed, late := before, before
	changed.Body += " "
	late.Headers = map[string]string{"webhook-id": before.Headers["webhook-id"], "webhook-signature": before.Headers["webhook-signature"], "webhook-timestamp": "1"}
	deliveries := []signedDelivery{before.withSecret(first), before.withSecret(second), changed.withSecret(first), late.withSecret(first),
		between.withSecret(first), between.withSecret(second), between.withSecret(third), after.withSecret(second), after.withSecret(third)}
	want := []bool{true, false, false, false, true, true, false, false, true}
	if is := verify(deliveries); !slices.Equal(is, want) {
		t.Errorf("the library returned %v, want %v\n%+v", is, want, deliveries)
	}
}

// withSecret returns the delivery for a receiver with another secret.
func (d signedDelivery) withSecret(secret string) signedDelivery {
	d.Secret = secret
	return d
}

// referenceLibrary installs the library.
func referenceLibrary(t *testing.T) (verify func([]signedDelivery) []bool) {
	t.Helper()
	dir := clientstest.NodeModules(t, ".")
	return func(deliveries []signedDelivery) (verdicts []bool) {
		text, err := json.Marshal(deliveries)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "verify.cjs"))
		cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(dir, "node_modules"))
		cmd.Stdin = bytes.NewReader(text)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(out, &verdicts); err != nil {
			t.Fatal(err)
		}
		return verdicts
	}
}
