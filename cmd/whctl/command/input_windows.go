package command

import "os"

// hasData reports whether a pipe has data. Windows reports the size of its data.
func hasData(pipe *os.File) bool {
	info, err := pipe.Stat()
	return err == nil && info.Size() > 0
}
