package command

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// peekNamedPipe is a function for named and anonymous pipes that package windows does not have.
var peekNamedPipe = windows.NewLazySystemDLL("kernel32.dll").NewProc("PeekNamedPipe")

// hasData reports whether a pipe has data that can be read without waiting.
func hasData(pipe *os.File) bool {
	var available uint32
	ok, _, _ := peekNamedPipe.Call(pipe.Fd(), 0, 0, 0, uintptr(unsafe.Pointer(&available)), 0)
	return ok != 0 && available > 0
}
