package descriptors

import "testing"

func TestDivide(t *testing.T) {
	for _, tt := range []struct {
		limit int
		want  Budget
	}{
		{0, Budget{}},
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
	for limit := 68; limit < 20_000; limit += 7 {
		b := Divide(limit, 257)
		if sum := fixed + b.Readers*perReader + b.Deliveries + b.Clients; sum > limit {
			t.Fatalf("Divide(%d, 257) = %+v, which adds up to %d", limit, b, sum)
		}
	}
}
