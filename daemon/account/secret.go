package account

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// KeyPrefix is the prefix of every API key, by which users and secret scanners recognize
// keys.
const KeyPrefix = "whd_"

const (
	sessionBytes = 15 // 20 characters of base64
	keyBytes     = 32 // 43 characters of base64url
	keyLength    = len(KeyPrefix) + 43
)

// SessionIDLength is the number of characters of a session id.
const SessionIDLength = 20

// newSessionID returns an id without + and /, since clients write ids into cookies and
// headers unquoted. More than half of random ids contain neither.
func newSessionID() string {
	var b [sessionBytes]byte
	for {
		rand.Read(b[:]) // never fails: the runtime aborts instead
		if id := base64.StdEncoding.EncodeToString(b[:]); !strings.ContainsAny(id, "+/") {
			return id
		}
	}
}

func newKey() string {
	var b [keyBytes]byte
	rand.Read(b[:])
	return KeyPrefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// Lengths of keys that another service issued. Their hash is not salted, so that short
// ones could be guessed.
const (
	minForeignKey = 24
	maxForeignKey = 200
)

// looksLikeKey reports whether the text may be a key of this or of another service. A
// user name can look like one of another service.
func looksLikeKey(text string) bool { return checkKey(text) == "" }

func ownKey(text string) bool { return strings.HasPrefix(text, KeyPrefix) }

// checkKey returns why a text cannot be a key, "" if it can. Clients must be able to send
// it as a bearer token (RFC 6750).
func checkKey(text string) string {
	const marks = "-._~+/="
	isForbidden := func(c rune) bool {
		if c >= utf8.RuneSelf {
			return true
		}
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune(marks, c)
	}
	if len(text) < minForeignKey || len(text) > maxForeignKey || strings.ContainsFunc(text, isForbidden) {
		return fmt.Sprintf("must be %d to %d letters, digits and the characters %s",
			minForeignKey, maxForeignKey, marks)
	}
	if ownKey(text) && len(text) != keyLength {
		return fmt.Sprintf("starts with %s, so it must have %d characters", KeyPrefix, keyLength)
	}
	return ""
}

// newID returns a random GUID.
func newID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// hashOf returns the hash that is stored for a generated secret. Session ids and keys
// have enough entropy for a plain hash.
func hashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	var digits [2 * sha256.Size]byte
	return string(hex.AppendEncode(digits[:0], sum[:]))
}

// fingerprint is an HMAC under a key of this process.
type fingerprint [sha256.Size]byte

// fingerprints computes fingerprints, so that maps of attempts and verified passwords
// contain neither names nor passwords, and have entries of constant size.
type fingerprints struct{ key [32]byte }

func newFingerprints() *fingerprints {
	p := &fingerprints{}
	rand.Read(p.key[:])
	return p
}

// of returns the fingerprint of the parts and their lengths, so that different lists of
// parts cannot coincide.
func (p *fingerprints) of(parts ...string) (sum fingerprint) {
	mac := hmac.New(sha256.New, p.key[:])
	for _, part := range parts {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(part)))
		mac.Write(n[:])
		mac.Write([]byte(part))
	}
	mac.Sum(sum[:0])
	return sum
}
