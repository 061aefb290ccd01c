//go:build depswarm

package main

import (
	_ "github.com/alecthomas/kong"
	_ "github.com/asynkron/protoactor-go/actor"
	_ "github.com/fasthttp/router"
	_ "github.com/goccy/go-yaml"
	_ "github.com/json-iterator/go"
	_ "github.com/klauspost/compress/gzip"
	_ "github.com/klauspost/compress/s2"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/ncruces/go-sqlite3"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/valyala/fasthttp"
	_ "go.uber.org/goleak"
	_ "golang.org/x/sys/unix"
	_ "pgregory.net/rapid"
)

func main() {}
