//go:build !unix

package main

// keepFilesPrivate does nothing: files inherit the access control list of their directory.
func keepFilesPrivate() {}
