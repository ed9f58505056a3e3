package live

import (
	"fmt"
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

var topicNames = []struct {
	topic Topics
	name  string
}{
	{Messages, wire.TopicMessages},
	{Stats, wire.TopicStats},
	{Requests, wire.TopicRequests},
}

// Has reports whether a topic is in the set.
func (t Topics) Has(topic Topics) bool { return t&topic != 0 }

// ParseTopics reads names separated by commas, in any letter case. No name at
// all means messages and stats.
func ParseTopics(text string) (Topics, error) {
	var all Topics
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		topic := topicByName(name)
		if topic == 0 && name != "" {
			return 0, fmt.Errorf("must be of %s", allowedTopics())
		}
		all |= topic
	}
	if all == 0 {
		all = standard
	}
	return all, nil
}

func topicByName(name string) Topics {
	for _, t := range topicNames {
		if strings.EqualFold(t.name, name) {
			return t.topic
		}
	}
	return 0
}

func allowedTopics() string {
	var names []string
	for _, t := range topicNames {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}
