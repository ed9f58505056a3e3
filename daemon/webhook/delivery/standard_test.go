package delivery_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
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
	received := make(chan signedDelivery, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		d := signedDelivery{Headers: make(map[string]string), Body: string(body)}
		for name := range r.Header {
			d.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		received <- d
	}))
	t.Cleanup(srv.Close)
	h := newTestEnv(t)
	h.start()
	sub := h.subscribe(srv.URL, "*")
	deliver := func() signedDelivery {
		t.Helper()
		h.publish("debtor.updated", `{"Name": "Müller & Söhne", "Text": "a\n<b> \u20ac"}`)
		select {
		case d := <-received:
			return d
		case <-time.After(testTimeout):
			t.Fatalf("no delivery arrived within %v", testTimeout)
			return signedDelivery{}
		}
	}
	rotate := func(r admin.Rotation) {
		t.Helper()
		change := admin.SubscriptionChange{Secret: &r}
		_, err := h.service.ChangeSubscription(context.Background(), h.subscriber, sub.GUID, change, admin.Caller{})
		if err != nil {
			t.Fatal(err)
		}
	}

	first := sub.Secret
	second := webhook.NewSecret()
	third := webhook.NewSecret()
	before := deliver()
	rotate(admin.Rotation{
		Secret: second,
		Old:    []webhook.ReplacedSecret{{Secret: first, Until: time.Now().Add(time.Hour)}},
	})
	between := deliver()
	rotate(admin.Rotation{Secret: third}) // the second secret expires immediately
	after := deliver()

	changed := before
	changed.Body += " "
	late := before
	late.Headers = maps.Clone(before.Headers)
	late.Headers["webhook-timestamp"] = "1"
	tests := []struct {
		name     string
		delivery signedDelivery
		secret   string
		want     bool
	}{
		{"before the rotation, the first secret", before, first, true},
		{"before the rotation, the second secret", before, second, false},
		{"with a changed body", changed, first, false},
		{"with a changed timestamp", late, first, false},
		{"during the rotation, the first secret", between, first, true},
		{"during the rotation, the second secret", between, second, true},
		{"during the rotation, the third secret", between, third, false},
		{"after the rotation, the second secret", after, second, false},
		{"after the rotation, the third secret", after, third, true},
	}
	var deliveries []signedDelivery
	for _, test := range tests {
		deliveries = append(deliveries, test.delivery.withSecret(test.secret))
	}
	verdicts := verify(deliveries) // all at once, since the library runs in another process
	if len(verdicts) != len(tests) {
		t.Fatalf("the library returned %d verdicts, want %d", len(verdicts), len(tests))
	}
	for i, test := range tests {
		if verdicts[i] != test.want {
			t.Errorf("%s: verified %v, want %v\n%+v", test.name, verdicts[i], test.want, deliveries[i])
		}
	}
}

// withSecret returns the delivery for a receiver with another secret.
func (d signedDelivery) withSecret(secret string) signedDelivery {
	d.Secret = secret
	return d
}

// referenceLibrary installs the library, and returns a function that verifies deliveries with it.
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
