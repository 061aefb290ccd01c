package main

import (
	"bytes"
	"io"
	"strings"

	"github.com/openai/openai-go/v3"
)

func upload(content, name string) openai.FileNewParams {
	return openai.FileNewParams{File: openai.File(strings.NewReader(content), name, "text/plain"), Purpose: openai.FilePurposeUserData}
}

var _ = add(map[string]func(){
	"files_create_retrieve_content_delete": func() {
		content := strings.Repeat("0123456789abcdef\r\n--x--\r\n", 4000)
		made := whole(client.Files.New(ctx, upload(content, "notes.txt")))
		eq([]any{made.Filename, made.Bytes, string(made.Purpose)}, []any{"notes.txt", int64(len(content)), "user_data"})
		eq(whole(client.Files.Get(ctx, made.ID)).RawJSON(), made.RawJSON())
		r := must(client.Files.Content(ctx, made.ID))
		defer func() { _ = r.Body.Close() }()
		eq(bytes.Equal(must(io.ReadAll(r.Body)), []byte(content)), true)
		eq(whole(client.Files.Delete(ctx, made.ID)).Deleted, true)
		refused(404, "file_not_found", "file_gone", func(c openai.Client) error { _, err := c.Files.Get(ctx, made.ID); return err })
		refused(404, "file_not_found", "file_content_gone", func(c openai.Client) error { _, err := c.Files.Content(ctx, made.ID); return err })
	},
})
