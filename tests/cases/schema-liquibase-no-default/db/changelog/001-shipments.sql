--liquibase formatted sql

--changeset karin:1
CREATE TABLE shipments (
    id         BIGINT PRIMARY KEY,
    carrier    TEXT   NOT NULL,
    state      TEXT   NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
--rollback DROP TABLE shipments;

--changeset karin:2
INSERT INTO shipments (id, carrier, state)
SELECT id, carrier, 'imported' FROM legacy_shipments;
--rollback DELETE FROM shipments WHERE state = 'imported';
