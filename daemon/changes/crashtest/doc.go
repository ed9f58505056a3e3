// Package crashtest proves that the capture of changes is exact. Programs of an ERP write
// concurrently, hold their transactions, and roll some back, while daemons and followers
// are killed at random moments. Afterwards copies are compared with their source by an
// independent reader, and the events that a receiver got with the changes. It contains
// tests only: `make crash` runs them for longer.
package crashtest
