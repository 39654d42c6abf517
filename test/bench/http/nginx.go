package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/athir-radio/athir/internal/kit/proc"
	"github.com/athir-radio/athir/internal/kit/retry"
)

// startNginx starts the peer that serves the answers which startBare wrote down, as
// files, with the usual settings for many small ones. Without a master process its
// one worker is the process that is measured.
func startNginx(ctx context.Context, all *children, dir string) (server, error) {
	port, err := freePort()
	if err != nil {
		return server{}, err
	}
	root, prefix := filepath.Join(dir, "www"), filepath.Join(dir, "nginx")
	if err := errors.Join(os.MkdirAll(filepath.Join(root, "api"), 0o750), os.MkdirAll(prefix, 0o750)); err != nil {
		return server{}, err
	}
	for _, route := range routes {
		body, err := os.ReadFile(filepath.Join(dir, filepath.Base(route)))
		if err != nil {
			return server{}, err
		}
		if err := os.WriteFile(root+route, body, 0o600); err != nil {
			return server{}, err
		}
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	config := fmt.Appendf(nil, `daemon off;
master_process off;
pid %[1]s/nginx.pid;
error_log stderr warn;
events { worker_connections 8192; }
http {
	access_log off;
	default_type application/json;
	sendfile on;
	tcp_nopush on;
	keepalive_requests 100000000;
	open_file_cache max=100;
	client_body_temp_path %[1]s/body;
	proxy_temp_path %[1]s/proxy;
	fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi;
	scgi_temp_path %[1]s/scgi;
	server { listen %[2]s; root %[3]s; }
}
`, prefix, addr, root)
	file := filepath.Join(prefix, "nginx.conf")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return server{}, err
	}
	pid, err := all.start(ctx, proc.Spec{Name: "nginx", Path: "nginx", Args: []string{"-p", prefix, "-c", file, "-e", "stderr"}, Stderr: os.Stderr})
	if err != nil {
		return server{}, err
	}
	for patience := time.Now().Add(20 * time.Second); time.Now().Before(patience); {
		if _, err := fetch(ctx, addr, routes[0], ""); err == nil {
			return server{addr: addr, pid: pid}, nil
		}
		if err := retry.Pause(ctx, 20*time.Millisecond); err != nil {
			return server{}, err
		}
	}
	return server{}, errors.New("nginx does not answer after 20 s")
}
