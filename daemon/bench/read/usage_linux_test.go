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

// cpuTime returns the CPU time of all threads of a process, in nanoseconds. The
// kernel has a clock for each process with an id derived from the process id.
func cpuTime(pid int) (time.Duration, error) {
	const schedulerClock = 2
	var at syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(^pid<<3|schedulerClock), uintptr(unsafe.Pointer(&at)), 0)
	if errno != 0 {
		return 0, errno
	}
	return time.Duration(at.Nano()), nil
}

// forgetPeak resets peakMemory to the current memory of the process.
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// peakMemory returns the peak memory of a process, in MB.
func peakMemory(pid int) (float64, error) { return memoryOf(pid, "VmHWM:") }

// heldMemory returns the current memory of a process, in MB.
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
	return 0, fmt.Errorf("%s not found in the process status", name)
}
