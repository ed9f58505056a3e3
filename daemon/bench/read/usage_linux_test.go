package read

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// cpuTime is the CPU time that all threads of a process have used, to the
// nanosecond. The kernel keeps a clock for each process, and its number is made
// of the process's id.
func cpuTime(pid int) (time.Duration, error) {
	const schedulerClock = 2
	var at syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|schedulerClock), uintptr(unsafe.Pointer(&at)), 0)
	if errno != 0 {
		return 0, errno
	}
	return time.Duration(at.Nano()), nil
}

// forgetPeak makes peakMemory start afresh from what the process holds now.
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// peakMemory is the most memory that a process has held, in MB.
func peakMemory(pid int) (float64, error) { return memoryOf(pid, "VmHWM:") }

// heldMemory is the memory that a process holds, in MB.
func heldMemory(pid int) (float64, error) { return memoryOf(pid, "VmRSS:") }

func memoryOf(pid int, name string) (float64, error) {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), name); ok {
			var kilobytes float64
			_, err := fmt.Sscan(text, &kilobytes)
			return kilobytes / 1024, err
		}
	}
	return 0, fmt.Errorf("the process status has no %s", name)
}
