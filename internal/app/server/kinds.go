package server

import (
	"github.com/isobath/isobath/internal/app/server/executions"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/app/server/mesh"
	"github.com/isobath/isobath/internal/app/server/messages"
	"github.com/isobath/isobath/internal/app/server/references"
)

// kinds are the kinds of data that the server shows: a new one is a folder and a
// line here.
var kinds = []frame.Kind{
	memory.Kind{},
	messages.Kind{},
	references.Kind{},
	mesh.Kind{},
	executions.Kind{},
}
