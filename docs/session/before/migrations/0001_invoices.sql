CREATE TABLE invoices (
    id BIGINT PRIMARY KEY,
    state TEXT NOT NULL,
    fencing_token BIGINT NOT NULL DEFAULT 0
);
