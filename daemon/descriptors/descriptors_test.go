package descriptors

import "testing"

func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		limit int
		want  Budget
	}{
		{0, Budget{Readers: 257}},
		{1, Budget{Limit: 1, Readers: 4, Deliveries: 1, Clients: 2}}, // too few for anything
		{100, Budget{Limit: 100, Readers: 4, Deliveries: 12, Clients: 24}},
		{1024, Budget{Limit: 1024, Readers: 32, Deliveries: 264, Clients: 528}},
		{65536, Budget{Limit: 65536, Readers: 257, Deliveries: 21318, Clients: 42636}},
	} {
		if got := Divide(tt.limit, 257); got != tt.want {
			t.Errorf("Divide(%d, 257) = %+v, want %+v", tt.limit, got, tt.want)
		}
	}
}

// TestDivideIsWithinLimit adds up the shares of all uses.
func TestDivideIsWithinLimit(t *testing.T) {
	const smallest = fixed + minReaders*perReader + 3 // a lower limit is exceeded, rather than to serve nothing
	for limit := smallest + 1; limit < 20_000; limit += 7 {
		b := Divide(limit, 257)
		if sum := fixed + b.Readers*perReader + b.Deliveries + b.Clients; sum > limit {
			t.Fatalf("Divide(%d, 257) = %+v, which adds up to %d, want at most the limit", limit, b, sum)
		}
	}
}

func TestAttempts(t *testing.T) {
	for _, tt := range []struct {
		deliveries, wanted    int
		attempts, connections int
	}{
		{deliveries: 0, wanted: 1000, attempts: 1000, connections: 0}, // no limit
		{deliveries: 12, wanted: 1000, attempts: 4, connections: 4},
		{deliveries: 264, wanted: 50, attempts: 50, connections: 164},
		{deliveries: 264, wanted: 1000, attempts: 88, connections: 88},
		{deliveries: 3, wanted: 0, attempts: 1, connections: 1},
	} {
		attempts, connections := Budget{Deliveries: tt.deliveries}.Attempts(tt.wanted)
		if attempts != tt.attempts || connections != tt.connections {
			t.Errorf("%d descriptors for %d attempts: got %d attempts and %d connections, want %d and %d",
				tt.deliveries, tt.wanted, attempts, connections, tt.attempts, tt.connections)
		}
	}
}

func TestLow(t *testing.T) {
	for limit, want := range map[int]bool{0: false, 100: true, Recommended - 1: true, Recommended: false} {
		if got := Divide(limit, 257).Low(); got != want {
			t.Errorf("a limit of %d is low: %t, want %t", limit, got, want)
		}
	}
}
