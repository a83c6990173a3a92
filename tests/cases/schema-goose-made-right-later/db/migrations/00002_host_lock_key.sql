-- +goose Up
CREATE UNIQUE INDEX host_locks_host ON host_locks (host);

-- +goose Down
DROP INDEX host_locks_host;
