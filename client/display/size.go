package display

import "fmt"

// Size formats a number of bytes: 46 B, 1.5 KiB, 20.0 GiB.
func Size(bytes int64) string {
	if bytes < 1<<10 {
		return fmt.Sprintf("%d B", bytes)
	}
	const shownAsNext = 1023.95 // from this number on, one decimal would round to 1024.0
	size := float64(bytes) / (1 << 10)
	units := []string{"KiB", "MiB", "GiB", "TiB"}
	for size >= shownAsNext && len(units) > 1 {
		size /= 1 << 10
		units = units[1:]
	}
	return fmt.Sprintf("%.1f %s", size, units[0])
}
