//go:build !unix

package daemon

// keepFilesPrivate leaves it to the directory's access list, which files
// inherit here.
func keepFilesPrivate() {}
