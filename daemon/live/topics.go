package live

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bizhook/whd/client/wire"
)

// Topics is a set of what a stream may be about.
type Topics uint8

// The topics.
const (
	Messages Topics = 1 << iota
	Stats
	Requests
)

// standard is what a stream is about whose reader does not say.
const standard = Messages | Stats

// topicNames are their names, in the same order.
var topicNames = []string{wire.TopicMessages, wire.TopicStats, wire.TopicRequests}

// Has reports whether a topic is in the set.
func (t Topics) Has(topic Topics) bool { return t&topic != 0 }

// ParseTopics reads names separated by commas, in any letter case. No name at
// all means messages and stats.
func ParseTopics(text string) (Topics, error) {
	var all Topics
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		i := slices.IndexFunc(topicNames, func(one string) bool { return strings.EqualFold(one, name) })
		if i < 0 {
			return 0, fmt.Errorf("must be of %s", strings.Join(topicNames, ", "))
		}
		all |= 1 << i
	}
	if all == 0 {
		all = standard
	}
	return all, nil
}
