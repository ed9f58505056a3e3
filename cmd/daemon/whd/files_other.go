//go:build !unix

package whd

// keepFilesPrivate leaves it to the directory's access list, which files
// inherit here.
func keepFilesPrivate() {}
