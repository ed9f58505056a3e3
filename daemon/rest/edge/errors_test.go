package edge

import (
	"net/http"
	"testing"

	"github.com/bizhook/whd/client/wire"
)

// TestErrorsHaveNoToken checks that an error in place of changes does not have the token after
// them: a client that stores it would not get the changes.
func TestErrorsHaveNoToken(t *testing.T) {
	h := make(http.Header)
	for _, name := range []string{wire.HeaderNextToken, wire.HeaderRowCount, "Content-Length"} {
		h.Set(name, "1")
	}
	ClearResponse(h)
	if len(h) > 0 {
		t.Errorf("headers of an error that replaced changes: %v, want none", h)
	}
}
