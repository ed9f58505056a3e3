package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/bizhook/whd/client"
	"github.com/bizhook/whd/client/record"
	"github.com/bizhook/whd/daemon/account"
)

// startToolSource starts a service and returns a source of its kinds.
func startToolSource(t *testing.T, handler http.HandlerFunc) *toolSource {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	service, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Close)
	return &toolSource{service: service}
}

// TestKindsOfToolsDoNotWait checks that a call of a tool need not wait until the service has answered
// another one.
func TestKindsOfToolsDoNotWait(t *testing.T) {
	var requests atomic.Int32
	arrived := make(chan struct{})
	release := make(chan struct{})
	source := startToolSource(t, func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			close(arrived)
			<-release
		}
		w.WriteHeader(http.StatusNotFound) // a service without a list has the built-in kinds
	})

	first := make(chan error, 1)
	go func() {
		_, err := source.Kinds(t.Context())
		first <- err
	}()
	<-arrived
	second := make(chan error, 1)
	go func() {
		_, err := source.Kinds(t.Context())
		second <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	select {
	case err := <-second:
		if err != nil {
			t.Errorf("the kinds of the second call: %v", err)
		}
	case <-ctx.Done():
		t.Error("the second call waits for the first one")
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("the kinds of the first call: %v", err)
	}
}

// TestUnchangedKindsOfTools checks that the kinds are kept while the service answers that they have not
// changed, and that an error returns none.
func TestUnchangedKindsOfTools(t *testing.T) {
	var requests atomic.Int32
	source := startToolSource(t, func(w http.ResponseWriter, r *http.Request) {
		switch requests.Add(1) {
		case 1:
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("ETag", `"1"`)
			w.Write([]byte(`[{"Name":"Parcels","Operation":"ParcelsQuery","Fields":[{"Name":"ID","Type":"int"}]}]`))
		case 2:
			if tag := r.Header.Get("If-None-Match"); tag != `"1"` {
				t.Errorf(`got the tag %s, want "1"`, tag)
			}
			w.WriteHeader(http.StatusNotModified)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	})

	for _, when := range []string{"at first", "unchanged"} {
		registry, err := source.Kinds(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if _, ok := registry.Lookup("Parcels"); !ok {
			t.Errorf("%s: the kinds lack Parcels", when)
		}
	}
	registry, err := source.Kinds(t.Context())
	if registry != nil || err == nil {
		t.Errorf("a request that failed: got %v (%v), want only an error", registry, err)
	}
}

// TestKindsForReaders checks that tools show the kinds that the service shows a reader.
func TestKindsForReaders(t *testing.T) {
	roles := []string{"", "unknown"}
	for _, role := range account.Roles() {
		roles = append(roles, role.String())
	}
	for _, role := range roles {
		kind := &record.Kind{Name: "Parcels", Role: role}
		want := account.RoleOf(kind).Allows(account.Reader)
		if got := isForReaders(kind); got != want {
			t.Errorf("a kind for %q: got %v, want %v", role, got, want)
		}
	}
}
