package actors

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// pictureTypes are the media types that CLIs read, with a file's ending.
var pictureTypes = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
}

// pictures makes files of the pictures of some messages. It refuses, naming the
// part, a picture that the adapter does not take and one that does not come along
// as data: the host fetches nothing.
func (h *Host) pictures(r *RuntimeConfig, items []*event.Item) (files []agent.File, err error) {
	takes := r.Adapter.Capabilities().Images
	err = eachPicture(items, func(param, from string) error {
		if !takes {
			return event.FailParam(event.Unsupported, param, fmt.Sprintf("adapter %s does not take pictures; send text only, or use an adapter that takes them: %s",
				r.Adapter.Name(), namesOf(h.runtimes.list, func(c *agent.Capabilities) bool { return c.Images })))
		}
		ending, data, err := pictureData(param, from)
		files = append(files, agent.File{Name: fmt.Sprintf("picture-%d%s", len(files)+1, ending), Data: data})
		return err
	})
	return files, err
}

// pathsIn are the files' paths in a directory.
func pathsIn(dir string, files []agent.File) []string {
	var paths []string
	for _, f := range files {
		paths = append(paths, filepath.Join(dir, f.Name))
	}
	return paths
}

func eachPicture(items []*event.Item, f func(param, from string) error) error {
	for i, it := range items {
		for j, p := range it.Parts {
			if p.ImageURL == "" {
				continue
			}
			if err := f(fmt.Sprintf("input[%d].content[%d].image_url", i, j), p.ImageURL); err != nil {
				return err
			}
		}
	}
	return nil
}

// pictureData reads a data: URL of one of pictureTypes.
func pictureData(param, from string) (ending string, data []byte, err error) {
	refuse := func(why string) error { return event.FailParam(event.InvalidRequest, param, why) }
	if len(from) < len("data:") || !strings.EqualFold(from[:len("data:")], "data:") {
		return "", nil, refuse("a picture must be a data: URL; the host fetches none")
	}
	head, body, ok := strings.Cut(from[len("data:"):], ",")
	if !ok {
		return "", nil, refuse("the data: URL has no data")
	}
	kind, params, _ := strings.Cut(strings.ToLower(head), ";")
	ending, ok = pictureTypes[strings.TrimSpace(kind)]
	if !ok {
		return "", nil, refuse("a picture must be image/png, image/jpeg, image/gif or image/webp")
	}
	if params == "base64" || strings.HasSuffix(params, ";base64") {
		data, err = base64.StdEncoding.DecodeString(body)
		if err != nil {
			data, err = base64.RawStdEncoding.DecodeString(body)
		}
	} else {
		var text string
		text, err = url.PathUnescape(body)
		data = []byte(text)
	}
	if err != nil || len(data) == 0 {
		return "", nil, refuse("the picture's data cannot be decoded")
	}
	return ending, data, nil
}
