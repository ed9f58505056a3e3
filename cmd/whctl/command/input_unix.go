//go:build unix

package command

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasData reports whether a pipe has data that can be read without waiting.
func hasData(pipe *os.File) bool {
	ready := []unix.PollFd{{Fd: int32(pipe.Fd()), Events: unix.POLLIN}}
	n, err := unix.Poll(ready, 0)
	return err == nil && n > 0 && ready[0].Revents&unix.POLLIN != 0
}
