package edge

import (
	"testing"
	"time"
)

// TestTimeoutOfClients checks how long a client may take for the next piece of a response.
func TestTimeoutOfClients(t *testing.T) {
	const stall = 20 * time.Second
	for _, tt := range []struct {
		name   string
		bytes  int64
		waited time.Duration
		want   time.Duration
	}{
		{"at the start", 0, 0, stall},
		{"slow at first", 0, 25 * time.Second, 9 * time.Second}, // 30 s, and 4 s for the piece
		{"at the minimum rate", 80 << 10, 10 * time.Second, stall},
		{"at half of it", 400 << 10, 100 * time.Second, -16 * time.Second},
		{"a large response", 1 << 40, 0, stall},
		{"a large and slow response", 1 << 40, 1 << 27 * time.Second, stall},
	} {
		w := &Response{Stall: stall, Bytes: tt.bytes, waited: tt.waited}
		if got := w.timeoutFor(writePiece); got != tt.want {
			t.Errorf("%s: %d bytes in %v: %v for the next piece, want %v", tt.name, tt.bytes, tt.waited, got, tt.want)
		}
	}
}
