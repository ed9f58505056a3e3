package account

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// The bounds of a password.
const (
	minPassword = 8    // characters
	maxPassword = 1024 // bytes
)

// checkPassword says what is wrong with a new password, "" if nothing.
func checkPassword(password string) string {
	switch {
	case password == "":
		return "must not be empty"
	case utf8.RuneCountInString(password) < minPassword:
		return fmt.Sprintf("must have at least %d characters", minPassword)
	case len(password) > maxPassword:
		return fmt.Sprintf("must have at most %d bytes", maxPassword)
	}
	return ""
}

// digest is a password's hash and how it was made.
type digest struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
	salt    []byte
	sum     []byte
}

// The cost of new hashes: 19 MiB, and as many passes as make about 50 ms on a
// server of today; two, the least that is advised for so much memory, would
// take 25. More memory would cost a full queue more than it costs an attacker.
const (
	costMemory  = 19 * 1024
	costPasses  = 4
	costThreads = 1
	saltBytes   = 16
	sumBytes    = 32
)

// derive is argon2.IDKey; tests count its calls.
type derive func(password, salt []byte, passes, memory uint32, threads uint8, length uint32) []byte

// hasher makes and checks password hashes, few at a time.
type hasher struct {
	running *semaphore
	derive  derive
	dummy   digest // what the password of an unknown user is compared with
}

func newHasher() *hasher {
	return &hasher{running: newSemaphore(), derive: argon2.IDKey, dummy: newDigest(randomBytes(sumBytes))}
}

func newDigest(sum []byte) digest {
	return digest{costMemory, costPasses, costThreads, randomBytes(saltBytes), sum}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// hash makes the PHC text of a new password.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	d := newDigest(make([]byte, sumBytes))
	sum, err := h.compute(ctx, d, password, true) // the caller was known before
	d.sum = sum
	return d.String(), err
}

// matches reports whether stored is the PHC text of the password. Where stored
// is empty, the user is unknown: it takes as long and is false. Trusted are pairs
// of user and address that signed in lately.
func (h *hasher) matches(ctx context.Context, stored, password string, trusted bool) (bool, error) {
	d, known := h.dummy, stored != ""
	if known {
		var err error
		if d, err = parseDigest(stored); err != nil {
			return false, err
		}
	}
	sum, err := h.compute(ctx, d, password, trusted)
	return err == nil && subtle.ConstantTimeCompare(sum, d.sum) == 1 && known, err
}

func (h *hasher) compute(ctx context.Context, d digest, password string, trusted bool) ([]byte, error) {
	if err := h.running.acquire(ctx, trusted); err != nil {
		return nil, err
	}
	defer h.running.release()
	return h.derive([]byte(password), d.salt, d.passes, d.memory, d.threads, uint32(len(d.sum))), nil
}

// weak reports whether the PHC text, which matches has read, cost less than
// hashes do now.
func weak(stored string) bool {
	d, err := parseDigest(stored)
	return err == nil && (d.memory < costMemory || uint64(d.memory)*uint64(d.passes) < costMemory*costPasses)
}

const digestForm = "m=%d,t=%d,p=%d"

// String is the digest as PHC text.
func (d digest) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	cost := fmt.Sprintf(digestForm, d.memory, d.passes, d.threads)
	return fmt.Sprintf("$argon2id$v=%d$%s$%s$%s", argon2.Version, cost, b64(d.salt), b64(d.sum))
}

var errDigest = errors.New("a stored password hash cannot be read")

// parseDigest reads PHC text. The costs are bounded, since they decide how
// much memory and time a login takes.
func parseDigest(text string) (d digest, err error) {
	part := strings.Split(text, "$")
	if len(part) != 6 || part[0] != "" || part[1] != "argon2id" || part[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return digest{}, errDigest
	}
	if _, err := fmt.Sscanf(part[3], digestForm, &d.memory, &d.passes, &d.threads); err != nil {
		return digest{}, errDigest
	}
	b64 := base64.RawStdEncoding.Strict()
	salt, saltErr := b64.DecodeString(part[4])
	sum, sumErr := b64.DecodeString(part[5])
	d.salt, d.sum = salt, sum
	// Only what String writes is accepted, so that a text has one reading.
	if saltErr != nil || sumErr != nil || !d.bounded() || d.String() != text {
		return digest{}, errDigest
	}
	return d, nil
}

func (d digest) bounded() bool {
	return between(d.memory, 8, 256*1024) && between(d.passes, 1, 16) && between(d.threads, 1, 16) &&
		between(len(d.salt), 8, 64) && between(len(d.sum), 16, 64)
}

func between[N int | uint8 | uint32](n, low, high N) bool { return low <= n && n <= high }
