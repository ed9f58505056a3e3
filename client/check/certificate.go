package check

import "time"

// Renewal is the remaining validity of a certificate below which checks warn. Automatic renewal
// usually happens a month before the expiry, so it has then failed for over a week.
const Renewal = 21 * 24 * time.Hour
