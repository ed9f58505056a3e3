//go:build unix

package main

import "syscall"

// keepFilesPrivate sets the umask so that only the user of the process can access the files
// that it creates: the store contains password hashes and business records.
func keepFilesPrivate() { syscall.Umask(0o077) }
