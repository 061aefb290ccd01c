package drift

import (
	"context"
	"errors"

	"github.com/agenthost/agenthost/fakes/tools"
)

// Names below the tools' folder of the packages that are compared: the newest
// pinned ones.
const (
	PythonTool     = "py-3.57.0/bin/python"
	JavaScriptTool = "sdk-js/newest/node_modules/openai"
)

// Installed reads both.
func Installed(ctx context.Context) ([]*SDK, error) {
	interpreter, ok := tools.Path(PythonTool)
	npm, also := tools.Path(JavaScriptTool)
	if !ok || !also {
		return nil, errors.New("the SDKs are not installed: run fakes/tools/install.sh all")
	}
	py, err := Python(ctx, interpreter)
	if err != nil {
		return nil, err
	}
	js, err := JavaScript(npm)
	if err != nil {
		return nil, err
	}
	return []*SDK{py, js}, nil
}
