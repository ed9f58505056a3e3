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

// The limits of a password's length.
const (
	minPassword = 8    // characters
	maxPassword = 1024 // bytes
)

// checkPassword returns the problem with a new password, "" if it is valid.
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

// digest is a password's hash with its parameters.
type digest struct {
	memory  uint32 // KiB
	passes  uint32
	threads uint8
	salt    []byte
	sum     []byte
}

// fullCost is the cost of new hashes: 19 MiB, and passes for about 50 ms on a current
// server. OWASP recommends at least two passes for 19 MiB, which take 25 ms. With more
// memory, a full queue of logins would cost the service too much.
var fullCost = digest{memory: 19 * 1024, passes: 4, threads: 1}

// testCost is the cost with Config.CheapHashes.
var testCost = digest{memory: 64, passes: 1, threads: 1}

const (
	saltBytes = 16
	sumBytes  = 32
)

// derive is argon2.IDKey; tests count its calls.
type derive func(password, salt []byte, passes, memory uint32, threads uint8, length uint32) []byte

// hasher computes and verifies password hashes, with limited concurrency.
type hasher struct {
	running *semaphore
	derive  derive
	cost    digest // cost of new hashes
	dummy   digest // compared with the password of unknown users
}

func newHasher(cost digest) *hasher {
	h := &hasher{running: newSemaphore(), derive: argon2.IDKey, cost: cost}
	h.dummy = h.newDigest(randomBytes(sumBytes))
	return h
}

func (h *hasher) newDigest(sum []byte) digest {
	return digest{h.cost.memory, h.cost.passes, h.cost.threads, randomBytes(saltBytes), sum}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// hash returns the hash of a new password as a PHC string.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	d := h.newDigest(make([]byte, sumBytes))
	sum, err := h.compute(ctx, d, password, true) // the caller is authenticated
	d.sum = sum
	return d.String(), err
}

// matches reports whether stored is a PHC string of the password. An empty stored
// stands for an unknown user: the result is false after the same time. trusted is for
// pairs of user and address that signed in recently.
func (h *hasher) matches(ctx context.Context, stored, password string, trusted bool) (bool, error) {
	d := h.dummy
	isKnown := stored != ""
	if isKnown {
		var err error
		d, err = parseDigest(stored)
		if err != nil {
			return false, err
		}
	}
	sum, err := h.compute(ctx, d, password, trusted)
	if err != nil {
		return false, err
	}
	isEqual := subtle.ConstantTimeCompare(sum, d.sum) == 1
	return isEqual && isKnown, nil
}

// compute returns the sum of a password with the parameters of a digest.
func (h *hasher) compute(
	ctx context.Context, d digest, password string, trusted bool,
) ([]byte, error) {
	if err := h.running.acquire(ctx, trusted); err != nil {
		return nil, err
	}
	defer h.running.release()
	return h.derive([]byte(password), d.salt, d.passes, d.memory, d.threads, uint32(len(d.sum))), nil
}

// weak reports whether a PHC string was computed at a lower cost than new hashes.
func (h *hasher) weak(stored string) bool {
	d, err := parseDigest(stored)
	if err != nil {
		return false
	}
	return d.memory < h.cost.memory || d.work() < h.cost.work()
}

// work is the memory that a computation writes, in KiB.
func (d digest) work() uint64 { return uint64(d.memory) * uint64(d.passes) }

const digestForm = "m=%d,t=%d,p=%d"

// String returns the digest as a PHC string.
func (d digest) String() string {
	b64 := base64.RawStdEncoding.EncodeToString
	cost := fmt.Sprintf(digestForm, d.memory, d.passes, d.threads)
	return fmt.Sprintf("$argon2id$v=%d$%s$%s$%s", argon2.Version, cost, b64(d.salt), b64(d.sum))
}

var errDigest = errors.New("a stored password hash is invalid")

// parseDigest parses a PHC string. The cost parameters are limited, since they
// determine the memory and time of a login.
func parseDigest(text string) (d digest, err error) {
	parts := strings.Split(text, "$")
	prefix := fmt.Sprintf("$argon2id$v=%d$", argon2.Version)
	if len(parts) != 6 || !strings.HasPrefix(text, prefix) {
		return digest{}, errDigest
	}
	if _, err := fmt.Sscanf(parts[3], digestForm, &d.memory, &d.passes, &d.threads); err != nil {
		return digest{}, errDigest
	}
	b64 := base64.RawStdEncoding.Strict()
	salt, saltErr := b64.DecodeString(parts[4])
	sum, sumErr := b64.DecodeString(parts[5])
	if saltErr != nil || sumErr != nil {
		return digest{}, errDigest
	}
	d.salt = salt
	d.sum = sum
	// Only the exact form of String is accepted.
	if !d.bounded() || d.String() != text {
		return digest{}, errDigest
	}
	return d, nil
}

// bounded reports whether a login with the digest costs a limited time and memory.
func (d digest) bounded() bool {
	isCostBounded := between(d.memory, 8, 256*1024) &&
		between(d.passes, 1, 16) &&
		between(d.threads, 1, 16)
	return isCostBounded && between(len(d.salt), 8, 64) && between(len(d.sum), 16, 64)
}

func between[N int | uint8 | uint32](n, low, high N) bool { return low <= n && n <= high }
