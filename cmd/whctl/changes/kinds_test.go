package changes

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bizhook/whd/client"
)

// TestKindsThatAreNotUnderstood checks that the fields of an earlier time are used if the service,
// after an upgrade, returns kinds that this version does not understand.
func TestKindsThatAreNotUnderstood(t *testing.T) {
	list := `[{"Name":"Item","Operation":"ItemQuery","Fields":[{"Name":"ID","Type":"int"}]}]`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, list)
	}))
	defer server.Close()
	service, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()

	reader := &kindReader{service: service, now: time.Now}
	before, err := reader.kind(t.Context(), "Item", 0)
	if err != nil {
		t.Fatal(err)
	}
	list = `[{"Name":"","Operation":"","Fields":[]}]`
	for range 2 {
		after, err := reader.kind(t.Context(), "Item", 0)
		if err != nil || after != before {
			t.Errorf("after kinds without a name: got %v, error %v; want the earlier kind", after, err)
		}
	}
}
