package actors

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/agenthost/agenthost/actors/agent"
	"github.com/agenthost/agenthost/actors/event"
)

// pictureTypes are the media types that CLIs read, with a file's ending.
var pictureTypes = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
}

// pictures names the files that the pictures of some messages would become. It
// refuses, naming the part, a picture that the adapter does not take and one that
// does not come along as data: the host fetches nothing.
func pictures(caps *agent.Capabilities, adapter string, items []*event.Item) ([]string, error) {
	var names []string
	err := eachPicture(items, func(param, from string) error {
		if !caps.Images {
			return event.FailParam(event.Unsupported, param, fmt.Sprintf("adapter %s does not take pictures; send text only or use another adapter", adapter))
		}
		ending, _, err := pictureData(param, from)
		names = append(names, pictureName(len(names), ending))
		return err
	})
	return names, err
}

// drawPictures writes the pictures of some messages into dir and lists the files.
func drawPictures(dir string, items []*event.Item) ([]string, error) {
	var files []string
	err := eachPicture(items, func(param, from string) error {
		ending, data, err := pictureData(param, from)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, pictureName(len(files), ending))
		if err := os.WriteFile(file, data, 0o600); err != nil {
			return workspaceFailure("a picture of the input cannot be written", err)
		}
		files = append(files, file)
		return nil
	})
	return files, err
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

func pictureName(n int, ending string) string { return fmt.Sprintf("picture-%d%s", n+1, ending) }

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
