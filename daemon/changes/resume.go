package changes

import "github.com/bizhook/whd/client/wire"

// Resumption determines the fate of the differences that a stopped capture has found.
type Resumption string

// The resumptions.
const (
	Publish Resumption = wire.ResumePublish // they become changes
	Silent  Resumption = wire.ResumeSilent  // the shadow is filled again; followers have to resynchronize
)
