package tui

import (
	"context"
	"encoding/binary"
	"os/exec"
	"runtime"
	"strings"
	"unicode/utf16"
)

// clipProgram is a program that takes a text on its standard input and puts it
// on the clipboard.
type clipProgram struct {
	argv []string
	wide bool // it wants UTF-16
}

// clipPrograms are those of this computer, the likeliest first.
func clipPrograms(env func(string) string) []clipProgram {
	switch runtime.GOOS {
	case "windows":
		return []clipProgram{{[]string{"clip.exe"}, true}}
	case "darwin":
		return []clipProgram{{[]string{"pbcopy"}, false}}
	}
	var programs []clipProgram
	if env("WAYLAND_DISPLAY") != "" {
		programs = append(programs, clipProgram{[]string{"wl-copy"}, false})
	}
	if env("DISPLAY") != "" {
		programs = append(programs, clipProgram{[]string{"xclip", "-in", "-selection", "clipboard"}, false}, clipProgram{[]string{"xsel", "--input", "--clipboard"}, false})
	}
	return programs
}

func (p clipProgram) give(ctx context.Context, text string) error {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.WaitDelay = clipPatience
	if p.wide {
		text = wideText(text)
	}
	cmd.Stdin = strings.NewReader(text)
	return cmd.Run()
}

// wideText is a text in UTF-16 with its mark, which Windows takes for what it is.
func wideText(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return string(out)
}
