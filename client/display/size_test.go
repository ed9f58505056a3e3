package display

import "testing"

func TestSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0:         "0 B",
		1023:      "1023 B",
		1024:      "1.0 KiB",
		4198:      "4.1 KiB",
		1_048_500: "1023.9 KiB",
		1<<20 - 1: "1.0 MiB",
		3 << 20:   "3.0 MiB",
		1<<30 - 1: "1.0 GiB",
		20 << 30:  "20.0 GiB",
		3 << 40:   "3.0 TiB",
	} {
		if got := Size(bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
}
