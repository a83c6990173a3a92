--liquibase formatted sql

--changeset tomasz:3
ALTER TABLE shipments
    ADD COLUMN fencing_token BIGINT NOT NULL;
--rollback ALTER TABLE shipments DROP COLUMN fencing_token;

--changeset tomasz:4
CREATE INDEX shipments_state ON shipments (state);
--rollback DROP INDEX shipments_state;
