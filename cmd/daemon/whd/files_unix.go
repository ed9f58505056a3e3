//go:build unix

package whd

import "syscall"

// keepFilesPrivate makes every file that the process creates its user's own:
// the store holds password hashes and the company's records.
func keepFilesPrivate() { syscall.Umask(0o077) }
