package check

import "time"

// Renewal is the remaining validity of a certificate below which checks warn. Certificates that
// are renewed automatically, a month before they expire, then have failed to for over a week.
const Renewal = 21 * 24 * time.Hour
