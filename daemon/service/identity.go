package service

import (
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
)

// identity returns the security identifier of a service's virtual account on Windows,
// NT SERVICE\name: the prefix S-1-5-80 and the SHA-1 of the name.
func identity(name string) string {
	var text []byte
	for _, unit := range utf16.Encode([]rune(strings.ToUpper(name))) {
		text = binary.LittleEndian.AppendUint16(text, unit)
	}
	sum := sha1.Sum(text)
	id := "S-1-5-80"
	for part := 0; part < len(sum); part += 4 {
		id += fmt.Sprintf("-%d", binary.LittleEndian.Uint32(sum[part:]))
	}
	return id
}
