//go:build !unix

package whd

// keepFilesPrivate does nothing: files inherit the access control list of their directory.
func keepFilesPrivate() {}
